"""Young's interval: the square root of twice the checkpoint times the time between failures."""

from __future__ import annotations

from typing import ClassVar

from advisor.transient.interval import INTERVALS, group_between_s, young_s
from advisor.transient.job import SpotJob


@INTERVALS.register("young")
class Young:
    """First order, for a checkpoint that is short against the time between failures."""

    label: ClassVar[str] = "Young"
    paper: ClassVar[str] = "Young 1974, doi:10.1145/361147.361115"

    def interval_s(self, job: SpotJob) -> float:
        """See `IntervalRule`."""
        return float(young_s(job.overheads.checkpoint_s, group_between_s(job), job.work_s))
