"""Cold replacement: a new machine is ordered for the one that was revoked; the group waits."""

from __future__ import annotations

from typing import ClassVar

from advisor.transient.job import SpotJob
from advisor.transient.policy import POLICIES
from advisor.transient.replacement import simulate_replacement
from advisor.transient.runs import Draws, Runs


@POLICIES.register("replace_cold")
class ReplaceCold:
    """The wait is that for a machine, its start and its load."""

    label: ClassVar[str] = "replace, cold"
    paper: ClassVar[str] = "CM-DARE, arXiv 2004.03072"

    def applies(self, job: SpotJob) -> str:
        """Return an empty text: always."""
        del job
        return ""

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """See `Policy`."""
        over = job.overheads
        return simulate_replacement(
            job, segments, draws, ready_s=over.wait_s + over.start_s, load_s=over.load_s, standby=0
        )
