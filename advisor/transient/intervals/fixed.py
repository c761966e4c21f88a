"""A checkpoint every so often, whatever the market."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.transient.interval import INTERVALS
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import check_positive


@INTERVALS.register("fixed")
@dataclass(frozen=True)
class Fixed:
    """The user's own interval; a job that is shorter writes one checkpoint, at its end."""

    label: ClassVar[str] = "fixed interval"
    paper: ClassVar[str] = "the user's choice"
    every_s: float = 1800.0

    def __post_init__(self) -> None:
        check_positive("checkpoint interval", self.every_s)

    def interval_s(self, job: SpotJob) -> float:
        """See `IntervalRule`."""
        return min(self.every_s, job.work_s)
