"""The rank that the others wait for."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces.trace import RankRow

SLOWER: Final = 1.1


@dataclass(frozen=True, slots=True)
class Straggler:
    """The slowest of so many timed ranks: its step time and that of the middle one [s]."""

    rank: int
    ranks: int
    step_time_s: float
    usual_s: float


def straggler_of(ranks: Sequence[RankRow]) -> Straggler | None:
    """Return the slowest rank if it takes over 1.1 times the middle one, else None."""
    timed = [(row.step_time_s, row.rank) for row in ranks if row.step_time_s is not None]
    if len(timed) < 2:
        return None
    usual_s = statistics.median(time_s for time_s, _ in timed)
    slowest_s, rank = max(timed)
    if slowest_s <= SLOWER * usual_s:
        return None
    return Straggler(rank, len(timed), slowest_s, usual_s)
