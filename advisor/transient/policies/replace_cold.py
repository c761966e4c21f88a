"""Cold replacement: a new machine is ordered for the one that was revoked; the group waits."""

from __future__ import annotations

from typing import ClassVar

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.replacement import replacement_stalls, simulate_replacement
from advisor.transient.runs import Draws, Runs
from advisor.transient.simulate import check_applies


@POLICIES.register("replace_cold")
class ReplaceCold:
    """The wait is that for a machine, its start and its load."""

    label: ClassVar[str] = "replace, cold"
    paper: ClassVar[str] = "CM-DARE, arXiv 2004.03072"
    asynchronous: ClassVar[bool] = False

    def applies(self, job: SpotJob, segments: int) -> str:
        """Return the reason where no group lives to its next checkpoint."""
        return replacement_stalls(job, segments, job.overheads.load_s)

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        check_applies(self, job, segments)
        over = job.overheads
        return simulate_replacement(
            job, segments, draws, ready_s=over.wait_s + over.start_s, load_s=over.load_s, standby=0
        )
