"""Daly's interval: of higher order, for checkpoints that are not short."""

from __future__ import annotations

import math
from typing import ClassVar

from advisor.transient.interval import INTERVALS, group_between_s, within_work
from advisor.transient.job import SpotJob


@INTERVALS.register("daly")
class Daly:
    """Equation 37 of the paper."""

    label: ClassVar[str] = "Daly"
    paper: ClassVar[str] = "Daly 2006, doi:10.1016/j.future.2004.11.016"

    def interval_s(self, job: SpotJob) -> float:
        """See `IntervalRule`."""
        between, write = group_between_s(job), job.overheads.checkpoint_s
        if write >= 2 * between:
            return float(within_work(between, job.work_s))
        ratio = write / (2 * between)
        first = math.sqrt(2 * write * between)
        higher = first * (1 + math.sqrt(ratio) / 3 + ratio / 9) - write
        return float(within_work(higher, job.work_s))
