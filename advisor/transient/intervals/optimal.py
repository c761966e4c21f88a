"""The interval of the shortest expected finish, by the renewal equations and the true hazard."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import numpy as np

from advisor.transient.interval import INTERVALS
from advisor.transient.job import SpotJob
from advisor.transient.renewal import restart_forecast

MOST_SEGMENTS: Final = 20_000
TRIED: Final = 24
ROUNDS: Final = 2


@INTERVALS.register("optimal")
class Optimal:
    """Search over the number of checkpoints, coarse first, then around the best."""

    label: ClassVar[str] = "optimal"
    paper: ClassVar[str] = "renewal equations of the restart, minimised"

    def interval_s(self, job: SpotJob) -> float:
        """See `IntervalRule`."""
        shortest = max(1.0, job.overheads.checkpoint_s / 4)
        low, high = 1.0, float(np.clip(job.work_s / shortest, 1, MOST_SEGMENTS))
        best: dict[int, float] = {}
        for _ in range(1 + ROUNDS):
            tried = sorted({round(value) for value in np.geomspace(low, high, TRIED)})
            for count in tried:
                if count not in best:
                    best[count] = _mean_s(job, count)
            place = tried.index(min(tried, key=lambda count: best[count]))
            low, high = (
                float(tried[max(place - 1, 0)]),
                float(tried[min(place + 1, len(tried) - 1)]),
            )
        return job.work_s / min(best, key=lambda count: best[count])


def _mean_s(job: SpotJob, segments: int) -> float:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = restart_forecast(job, segments).mean_s
    return mean if math.isfinite(mean) and mean > 0 else math.inf
