"""Uniform progress: spot while the job is on its line to the deadline, on demand when behind."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import (
    check_applies,
    check_progress,
    lifetime_of_event,
    on_demand_price,
    unfinished,
)


@POLICIES.register("uniform_progress")
class UniformProgress:
    """Two rules, checked at every checkpoint.

    Safety: a next part is trained on spot only if, were its machines lost at the last moment, the
    rest could still be finished on demand by the deadline. Progress: while no spot machine can
    be had, a job behind the straight line from nothing to done trains on demand.
    """

    label: ClassVar[str] = "uniform progress, falling back to on demand"
    paper: ClassVar[str] = "Can't Be Late, NSDI 2024"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """See `Policy`; on demand it always gets ahead."""
        del segments
        if not job.on_demand_usd_per_h:
            return "the machine cannot be had on demand"
        return "there is no deadline" if math.isinf(job.deadline_s) else ""

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`; where the deadline cannot be met it trains on demand throughout."""
        check_applies(self, job, segments)
        over = job.overheads
        times = job.group_times * draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        part_s = work_s / segments + over.checkpoint_s
        begin_s = over.start_s + over.load_s
        left = np.full(draws.runs, float(segments))
        now, spot_s, demand_s, revoked = (np.zeros(draws.runs) for _ in range(4))
        free_at = np.zeros(draws.runs)  # from then on a spot machine can be had
        active = np.arange(draws.runs)
        event = 0
        while len(active):
            part, to_go, time = part_s[active], left[active], now[active]
            safe_s = job.deadline_s - begin_s - to_go * part  # on demand must begin by then
            behind = (segments - to_go) * job.deadline_s < segments * time
            available = free_at[active] <= time
            # Spot: load, then as many parts as stay safe; one that fails costs all its time.
            drawn = draws.exponentials(event)[active]
            lived = lifetime_of_event(job, event).age_of_draws(drawn, times[active])
            start_s = over.start_s if event else job.first_start_s
            load_s = over.load_s if event else job.first_load_s
            latest = safe_s - time - start_s - load_s - part
            trusted = np.where(latest >= 0, to_go, 0.0)
            spot = available & (trusted >= 1)
            wait = ~available & ~behind & (free_at[active] <= safe_s)
            parts = np.where(spot, np.floor(np.maximum(lived - load_s, 0) / part), 0.0)
            parts = np.minimum(parts, to_go)
            done_spot = spot & (parts >= to_go)
            lost = spot & ~done_spot
            used = start_s + np.where(done_spot, load_s + to_go * part, lived)
            spot_s[active] += np.where(spot, used, 0.0)
            revoked[active] += lost
            after = np.where(spot, time + used, time)
            free_at[active] = np.where(lost, after + over.wait_s, free_at[active])
            # On demand: to the end where safety asks, else until the line is reached again.
            demand = ~spot & ~wait
            forced = demand & ((time + begin_s + part > safe_s) | (trusted < 1))
            catch_up = _parts_to_line(job, segments, time + begin_s, to_go, part)
            until_free = (free_at[active] - time - begin_s) / part
            some = np.clip(np.ceil(np.maximum(catch_up, until_free)), 1.0, to_go)
            bought = np.where(forced, to_go, some)
            on_demand = np.where(demand, begin_s + bought * part, 0.0)
            demand_s[active] += on_demand
            left[active] = to_go - np.where(spot, parts, np.where(demand, bought, 0.0))
            now[active] = np.where(wait, free_at[active], after + on_demand)
            active = active[left[active] > 0.5]
            event = check_progress(event, unfinished(active, draws))
        paid = (spot_s + demand_s) * job.machines
        usd = spot_s * job.usd_per_h + demand_s * on_demand_price(job)
        cost = usd * job.machines / HOUR_S
        return Runs(now, cost, revoked, paid, work_s * job.machines)


def _parts_to_line(
    job: SpotJob, segments: int, begun_s: FloatArray, to_go: FloatArray, part_s: FloatArray
) -> FloatArray:
    """Parts to train on demand until the job is back on its line; all where it never is."""
    gain = job.deadline_s - segments * part_s
    behind = segments * begun_s - (segments - to_go) * job.deadline_s
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gain > 0, behind / gain, to_go)
