"""Price ceiling: machines run while the spot price is at or below a limit, and pay that price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import check_positive
from advisor.transient.policy import POLICIES
from advisor.transient.runs import HAZARD, WORK, Draws, Runs
from advisor.transient.simulate import (
    begins_only,
    check_applies,
    check_progress,
    restart_stalls,
    unfinished,
)

WHERE: Final = 4  # the stream of places in the price history at which runs begin


@POLICIES.register("price_ceiling")
@dataclass(frozen=True)
class PriceCeiling:
    """A history of prices is replayed from a random place, round and round.

    Parameters
    ----------
    prices_usd_per_h : tuple of float
        Prices of one machine, evenly spaced in time; without them the policy does not apply.
    step_s : float
        Time between two prices [s].
    ceiling_usd_per_h : float
        The limit; a rise above it revokes the group, beside the market's own revocations.
    """

    label: ClassVar[str] = "price ceiling"
    paper: ClassVar[str] = "Zheng et al., doi:10.1145/2785956.2787473"
    asynchronous: ClassVar[bool] = False
    prices_usd_per_h: tuple[float, ...] = ()
    step_s: float = HOUR_S
    ceiling_usd_per_h: float = 0.0

    def __post_init__(self) -> None:
        check_positive("step of the price history", self.step_s)
        prices = np.asarray(self.prices_usd_per_h, float)
        if len(prices) and not (np.isfinite(prices) & (prices > 0)).all():
            raise InvalidInputError("a price is not positive.", where="price history")

    def applies(self, job: SpotJob, segments: int) -> str:
        """See `Policy`."""
        if not self.prices_usd_per_h:
            return "there is no price history"
        if min(self.prices_usd_per_h) > self.ceiling_usd_per_h:
            return "the price was never at or below the ceiling"
        return begins_only(job) or restart_stalls(job, segments)

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`; the group restarts as a whole."""
        check_applies(self, job, segments)
        over = job.overheads
        times = job.group_times * draws.factors(HAZARD, job.hazard_log_sigma)
        work_s = job.work_s * draws.factors(WORK, job.work_log_sigma)
        part_s = work_s / segments + over.checkpoint_s
        left = np.full(draws.runs, float(segments))
        begun = draws.uniforms(WHERE) * self.step_s * len(self.prices_usd_per_h)
        now, paid, usd, revoked = begun.copy(), *(np.zeros(draws.runs) for _ in range(3))
        active = np.arange(draws.runs)
        event = 0
        while len(active):
            begin = now[active] + self._until(now[active], allowed=True)
            lived = job.lifetime.age_of_draws(draws.exponentials(event)[active], times[active])
            affordable = self._until(begin, allowed=False)
            up = np.minimum(over.start_s + lived, affordable)
            needed = over.start_s + over.load_s + left[active] * part_s[active]
            done = up >= needed
            used = np.where(done, needed, up)
            kept = np.floor(np.maximum(up - over.start_s - over.load_s, 0) / part_s[active])
            left[active] -= np.where(done, 0.0, np.minimum(kept, left[active] - 1))
            paid[active] += used * job.machines
            usd[active] += (self._spent(begin + used) - self._spent(begin)) * job.machines
            outlived = ~done & (over.start_s + lived <= affordable)
            now[active] = begin + used + np.where(outlived, over.wait_s, 0.0)
            revoked[active] += ~done
            active = active[~done]
            event = check_progress(event, unfinished(active, draws))
        return Runs(now - begun, usd, revoked, paid, work_s * job.machines)

    def _until(self, time_s: FloatArray, *, allowed: bool) -> FloatArray:
        """Time until the price is (or is not) at or below the ceiling [s]; inf if never."""
        match = (np.asarray(self.prices_usd_per_h) <= self.ceiling_usd_per_h) == allowed
        size = len(match)
        if not match.any():
            return np.full(len(time_s), np.inf)
        places = np.flatnonzero(np.tile(match, 2))
        step = np.floor(time_s / self.step_s)
        place = (step % size).astype(int)
        ahead = places[np.searchsorted(places, place)] - place
        return np.where(ahead == 0, 0.0, (step + ahead) * self.step_s - time_s)

    def _spent(self, time_s: FloatArray) -> FloatArray:
        """What one machine has cost since time 0, had it run throughout [USD]."""
        steps = np.concatenate([[0.0], np.cumsum(self.prices_usd_per_h)]) * self.step_s / HOUR_S
        size = len(self.prices_usd_per_h)
        round_s = self.step_s * size
        rounds = np.floor(time_s / round_s)
        inside = np.interp(time_s - rounds * round_s, np.arange(size + 1) * self.step_s, steps)
        return np.asarray(rounds * steps[-1] + inside)
