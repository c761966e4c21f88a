"""Several zones: where one has no machine any more, the cheapest other one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from advisor.core.units import HOUR_S
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import Lifetime, check_positive
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import (
    begins_only,
    check_applies,
    check_progress,
    restart_stalls,
    unfinished,
)


@dataclass(frozen=True)
class Zone:
    """A zone with its lifetime, its price, and how long it has no machine after a revocation."""

    lifetime: Lifetime
    usd_per_h: float
    wait_s: float

    def __post_init__(self) -> None:
        check_positive("price of a zone", self.usd_per_h)


@POLICIES.register("zones")
@dataclass(frozen=True)
class Zones:
    """Restart as a whole in the cheapest zone that has machines; else in the first that has.

    Parameters
    ----------
    zones : tuple of Zone
        The zones; empty: `alike` zones like that of the job, each revoking on its own.
    alike : int
        Zones like that of the job.
    """

    label: ClassVar[str] = "several zones"
    paper: ClassVar[str] = "SkyPilot, NSDI 2023"
    asynchronous: ClassVar[bool] = False
    zones: tuple[Zone, ...] = ()
    alike: int = 3

    def __post_init__(self) -> None:
        check_positive("zones", self.alike)

    def applies(self, job: SpotJob, segments: int) -> str:
        """See `Policy`."""
        if not self.zones and job.overheads.wait_s == 0:
            return "a machine can be had again at once: another zone gains nothing"
        return begins_only(job) or restart_stalls(
            job, segments, *(zone.lifetime for zone in self.zones)
        )

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        check_applies(self, job, segments)
        over = job.overheads
        own = Zone(job.lifetime, job.usd_per_h, over.wait_s)
        zones = self.zones or (own,) * self.alike
        price = np.array([zone.usd_per_h for zone in zones])
        waits = np.array([zone.wait_s for zone in zones])
        times = job.group_times * draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        part_s = work_s / segments + over.checkpoint_s
        left = np.full(draws.runs, float(segments))
        now, paid, usd, revoked = (np.zeros(draws.runs) for _ in range(4))
        free_at = np.zeros((draws.runs, len(zones)))
        active = np.arange(draws.runs)
        event = 0
        while len(active):
            begin = np.maximum(free_at[active], now[active, None])
            # The earliest begin counts; of equal ones the cheapest.
            soon = begin <= begin.min(axis=1, keepdims=True)
            chosen = np.argmin(np.where(soon, price, np.inf), axis=1)
            drawn = draws.exponentials(event)[active]
            lived = np.empty(len(active))
            for place, zone in enumerate(zones):
                here = chosen == place
                lived[here] = zone.lifetime.age_of_draws(drawn[here], times[active[here]])
            needed = over.load_s + left[active] * part_s[active]
            done = lived >= needed
            used = over.start_s + np.where(done, needed, lived)
            end = begin.min(axis=1) + used
            kept = np.floor(np.maximum(lived - over.load_s, 0) / part_s[active])
            left[active] -= np.where(done, 0.0, np.minimum(kept, left[active] - 1))
            now[active] = end
            free_at[active, chosen] = end + waits[chosen]
            paid[active] += used * job.machines
            usd[active] += used * job.machines * price[chosen] / HOUR_S
            revoked[active] += ~done
            active = active[~done]
            event = check_progress(event, unfinished(active, draws))
        return Runs(now, usd, revoked, paid, work_s * job.machines)
