"""Synchronous training that pauses while a revoked machine is replaced; the others stay."""

from __future__ import annotations

import numpy as np

from advisor.transient.job import SpotJob
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import (
    check_progress,
    group_deaths,
    no_progress,
    time_to_checkpoint,
    unfinished,
)


def replacement_stalls(job: SpotJob, segments: int, load_s: float) -> str:
    """Return the reason where a group hardly ever reaches a checkpoint, or an empty text.

    Machines that stay may have lived through the worst of a front-loaded hazard: the chance is
    the better of that of a fresh group and that of one new machine among old ones.
    """
    needed = time_to_checkpoint(job, segments, load_s)
    grown = job.lifetime.cumulative_hazard(np.array([needed, job.work_s, job.work_s + needed]))
    aged = float(grown[0] + (job.group_times - 1) * (grown[2] - grown[1]))
    fresh = float(job.lifetime.survival(needed, job.group_times))
    return no_progress(job, segments, max(fresh, np.exp(-aged)), needed)


def simulate_replacement(
    job: SpotJob, segments: int, draws: Draws, *, ready_s: float, load_s: float, standby: int
) -> Runs:
    """Run a group whose revoked machines are replaced one by one.

    All go back to the last checkpoint. Machines that stay keep their age: under a front-loaded
    hazard they are the safer ones.

    Parameters
    ----------
    job, segments, draws
        As in `Policy.simulate`.
    ready_s, load_s : float
        From a revocation of one machine to a running machine, and from there to training [s];
        a group lost as a whole waits, starts and loads anew.
    standby : int
        Machines paid beyond the group; lost together with it.
    """
    over = job.overheads
    factor = draws.factors(HAZARD, job.hazard_log_sigma)
    work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
    part_s = work_s / segments + over.checkpoint_s
    left = np.full(draws.runs, float(segments))
    finish, revoked, gone_s = (np.zeros(draws.runs) for _ in range(3))
    active = np.arange(draws.runs)
    deaths, together = group_deaths(job, draws, 0, active, factor)
    deaths, together = deaths + job.first_start_s, together + job.first_start_s
    resumed = np.full(draws.runs, job.first_start_s + job.first_load_s)
    ordered = np.zeros(deaths.shape)  # from then on a machine is paid
    event = 1
    while len(active):
        struck = np.argmin(deaths, axis=1)
        first = deaths[np.arange(len(active)), struck]
        all_at_once = together <= first
        now = np.minimum(first, together)
        part, to_go = part_s[active], left[active]
        done = now >= resumed + to_go * part
        finish[active] = np.where(done, resumed + to_go * part, 0.0)
        kept = np.floor(np.maximum(now - resumed, 0) / part)
        left[active] = to_go - np.minimum(kept, to_go - 1)
        revoked[active] += ~done
        lost = np.where(all_at_once, job.machines + standby, 0 if standby else 1)
        waiting_s = np.maximum(ordered - now[:, None], 0.0).sum(axis=1)  # deducted already
        unpaid_s = over.wait_s * lost - np.where(all_at_once, waiting_s, 0.0)
        gone_s[active] += np.where(done, 0.0, unpaid_s)
        # New machines: one, or all of them, for whom none stands by.
        born = now + np.where(all_at_once, over.wait_s + over.start_s, ready_s)
        own, common = group_deaths(job, draws, event, active, factor[active])
        at = np.arange(deaths.shape[1]) == struck[:, None]
        anew = at | all_at_once[:, None]
        deaths = np.where(anew, born[:, None] + own, deaths)
        ordered = np.where(anew, born[:, None] - over.start_s, ordered)
        together = np.where(all_at_once, born + common, together)
        resumed = np.maximum(resumed, born + np.where(all_at_once, over.load_s, load_s))
        keep = ~done
        active, deaths, together, resumed, ordered = (
            values[keep] for values in (active, deaths, together, resumed, ordered)
        )
        event = check_progress(event, unfinished(active, draws))
    # Every machine is paid, but not one that is gone and cannot be had yet.
    paid = finish * (job.machines + standby) - gone_s
    return Runs(finish, paid * job.usd_per_s, revoked, paid, work_s * job.machines)
