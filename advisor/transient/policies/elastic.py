"""Elastic: training goes on with the machines that are left, at their speed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import check_progress, group_deaths, unfinished


@POLICIES.register("elastic")
class Elastic:
    """The group loads the last checkpoint and goes on smaller; the last one lost starts it anew."""

    label: ClassVar[str] = "continue with fewer"
    paper: ClassVar[str] = "Varuna, arXiv 2111.04007"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """See `Policy`."""
        del segments
        return "" if job.machines > 1 else "there is one machine: none is left to go on"

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`; one machine restarts."""
        over = job.overheads
        factor = draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        left = np.full(draws.runs, float(segments))
        finish, revoked, paid = (np.zeros(draws.runs) for _ in range(3))
        active = np.arange(draws.runs)
        now = np.zeros(draws.runs)
        alive = np.zeros(draws.runs, int)  # none yet: the first group is ordered
        deaths = np.zeros((draws.runs, job.machines))
        together = np.zeros(draws.runs)
        resumed = np.zeros(draws.runs)
        event = 0
        while len(active):
            fresh = alive == 0
            own, common = group_deaths(job, draws, event, active, factor[active])
            start_s = over.start_s if event else job.first_start_s
            load_s = over.load_s if event else job.first_load_s
            born = now + start_s
            deaths = np.where(fresh[:, None], born[:, None] + np.sort(own, axis=1), deaths)
            together = np.where(fresh, born + common, together)
            paid[active] += np.where(fresh, start_s * job.machines, 0.0)
            resumed = np.where(fresh, born, now) + load_s
            begun = np.where(fresh, born, now)
            alive = np.where(fresh, job.machines, alive)
            next_one = deaths[np.arange(len(active)), job.machines - alive]
            struck = np.minimum(next_one, together)
            part = work_s[active] / segments / job.speed(alive) + over.checkpoint_s
            end = resumed + left[active] * part
            done = struck >= end
            kept = np.floor(np.maximum(struck - resumed, 0) / part)
            left[active] -= np.where(done, 0.0, np.minimum(kept, left[active] - 1))
            stop = np.where(done, end, struck)
            paid[active] += alive * (stop - begun)
            finish[active] = stop
            revoked[active] += ~done
            alive = np.where(together <= next_one, 0, alive - 1)
            now = struck + np.where(alive == 0, over.wait_s, 0.0)
            keep = ~done
            active, now, alive, deaths, together = (
                values[keep] for values in (active, now, alive, deaths, together)
            )
            event = check_progress(event, unfinished(active, draws))
        return Runs(finish, paid * job.usd_per_s, revoked, paid, work_s * job.machines)
