"""On demand: nothing is revoked, every hour has its full price."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from advisor.core.units import HOUR_S
from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.runs import WORK, Draws, Runs
from advisor.transient.simulate import check_applies, on_demand_price


@POLICIES.register("on_demand")
class OnDemand:
    """What every other policy is compared with; no checkpoint is written."""

    label: ClassVar[str] = "on demand"
    paper: ClassVar[str] = "the clouds' price lists"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """See `Policy`."""
        del segments
        return "" if job.on_demand_usd_per_h else "the machine cannot be had on demand"

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        check_applies(self, job, segments)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        finish = job.overheads.start_s + job.overheads.load_s + work_s
        paid = finish * job.machines
        cost = paid * on_demand_price(job) / HOUR_S
        return Runs(finish, cost, np.zeros(draws.runs), paid, work_s * job.machines)
