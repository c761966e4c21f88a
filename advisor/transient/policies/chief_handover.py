"""CM-DARE: asynchronous workers go on alone; another worker takes over a revoked chief's duty."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import check_progress, group_deaths, unfinished


@POLICIES.register("chief_handover")
class ChiefHandover:
    """No work is lost: the servers hold the state. A lost worker is replaced while others train.

    The chief writes the checkpoints. Whether a revoked worker is the chief is drawn.
    """

    label: ClassVar[str] = "parameter servers, chief handed over"
    paper: ClassVar[str] = "CM-DARE, arXiv 2004.03072"
    asynchronous: ClassVar[bool] = True

    def applies(self, job: SpotJob, segments: int) -> str:
        """Return an empty text: always. Its servers keep the work of lost machines."""
        del job, segments
        return ""

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        over = job.overheads
        factor = draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        # In seconds of the whole group; what workers undo of each other is trained again.
        to_do = work_s * job.samples_factor + segments * over.checkpoint_s
        active = np.arange(draws.runs)
        own, common = group_deaths(job, draws, 0, active, factor)
        begin = over.start_s + over.load_s
        first = job.first_start_s + job.first_load_s
        due, together = own + first, common + first  # next change of each worker, and of all
        working = np.ones(due.shape, bool)
        now = np.full(draws.runs, first)
        finish, revoked = np.zeros(draws.runs), np.zeros(draws.runs)
        paid = np.full(draws.runs, float(first * job.machines))
        away_s = over.wait_s + over.start_s + over.load_s
        event = 1
        while len(active):
            rows = np.arange(len(active))
            which = np.argmin(due, axis=1)
            next_one = due[rows, which]
            all_at_once = together <= next_one
            change = np.minimum(next_one, together)
            count = working.sum(axis=1)
            speed = np.where(count > 0, job.speed(count), 0.0)
            gained = (change - now) * speed
            done = gained >= to_do[active]
            with np.errstate(divide="ignore", invalid="ignore"):
                finish[active] = np.where(done, now + to_do[active] / speed, 0.0)
            to_do[active] -= gained
            paid[active] += count * (np.where(done, finish[active], change) - now)
            lost = working[rows, which] & ~all_at_once
            revoked[active] += np.where(all_at_once, count > 0, lost) & ~done
            own, common = group_deaths(job, draws, event, active, factor[active])
            chief = draws.uniforms(1000 + event)[active] * np.maximum(count, 1) < 1
            pause = np.where(lost & chief | all_at_once, over.hand_over_s, 0.0)
            to_do[active] += pause * speed
            # A worker lost comes back later; one that comes back lives anew.
            flip = np.arange(due.shape[1]) == which[:, None]
            returns = flip & ~working & ~all_at_once[:, None]
            leaves = (flip & working & ~all_at_once[:, None]) | all_at_once[:, None]
            paid[active] += np.where(done, 0.0, returns.sum(axis=1) * begin)
            due = np.where(returns, change[:, None] + own, due)
            due = np.where(leaves, (change + away_s)[:, None], due)
            working = (working | returns) & ~leaves
            together = np.where(all_at_once, change + away_s + common, together)
            now = change
            keep = ~done
            active, due, together, working, now = (
                values[keep] for values in (active, due, together, working, now)
            )
            event = check_progress(event, unfinished(active, draws))
        return Runs(finish, paid * job.usd_per_s, revoked, paid, work_s * job.machines)
