"""Warm replacement: a machine more is kept running, and takes over at once."""

from __future__ import annotations

from typing import ClassVar

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.replacement import replacement_stalls, simulate_replacement
from advisor.transient.runs import Draws, Runs
from advisor.transient.simulate import check_applies


@POLICIES.register("replace_warm")
class ReplaceWarm:
    """One machine stands by, is paid all the time, and is renewed before the next revocation."""

    label: ClassVar[str] = "replace, warm"
    paper: ClassVar[str] = "CM-DARE, arXiv 2004.03072"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """Return the reason: no known time of a warm start, or no group reaches a checkpoint."""
        if job.overheads.warm_s <= 0:
            return "the time of a warm start is not given"
        return replacement_stalls(job, segments, job.overheads.warm_s)

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        check_applies(self, job, segments)
        warm = job.overheads.warm_s
        return simulate_replacement(job, segments, draws, ready_s=0.0, load_s=warm, standby=1)
