"""Restart: on a revocation all machines are given back and a fresh group loads the checkpoint."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import (
    check_applies,
    check_progress,
    lifetime_of_event,
    restart_stalls,
    unfinished,
)


@POLICIES.register("restart")
class Restart:
    """Synchronous training that starts again as a whole; the closed form is `renewal`."""

    label: ClassVar[str] = "restart all"
    paper: ClassVar[str] = "Young, doi:10.1145/361147.361115"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """Return the reason where no group lives to its next checkpoint."""
        return restart_stalls(job, segments)

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        check_applies(self, job, segments)
        over = job.overheads
        times = job.group_times * draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        part_s = work_s / segments + over.checkpoint_s
        left = np.full(draws.runs, float(segments))
        finish, revoked = np.zeros(draws.runs), np.zeros(draws.runs)
        active = np.arange(draws.runs)
        attempt = 0
        while len(active):
            drawn = draws.exponentials(attempt)[active]
            lived = lifetime_of_event(job, attempt).age_of_draws(drawn, times[active])
            start_s = over.start_s if attempt else job.first_start_s
            load_s = over.load_s if attempt else job.first_load_s
            needed = load_s + left[active] * part_s[active]
            done = lived >= needed
            finish[active] += start_s + np.where(done, needed, lived) + over.wait_s * ~done
            revoked[active] += ~done
            kept = np.floor(np.maximum(lived - load_s, 0) / part_s[active])
            left[active] -= np.where(done, 0.0, np.minimum(kept, left[active] - 1))
            active = active[~done]
            attempt = check_progress(attempt, unfinished(active, draws))
        paid = (finish - over.wait_s * revoked) * job.machines
        return Runs(finish, paid * job.usd_per_s, revoked, paid, work_s * job.machines)
