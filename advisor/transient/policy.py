"""The contract of a policy: what is done when a spot machine is revoked."""

from __future__ import annotations

from typing import ClassVar, Final, Protocol

from advisor.core.registry import Registry
from advisor.transient.job import SpotJob
from advisor.transient.runs import Draws, Runs


class Policy(Protocol):
    """A way to live with revocations. One file per policy in `advisor.transient.policies`.

    `asynchronous`: workers do not wait for each other, which changes what is learnt from a sample.
    """

    label: ClassVar[str]
    paper: ClassVar[str]
    asynchronous: ClassVar[bool]

    def applies(self, job: SpotJob, segments: int) -> str:
        """Return the reason why the policy cannot be used, or an empty text.

        A group that hardly ever lives from one of the `segments` to the next is such a reason.
        """

    def simulate(self, job: SpotJob, segments: int, draws: Draws) -> Runs:
        """Run the job many times.

        Parameters
        ----------
        job : SpotJob
            The job.
        segments : int
            Parts that checkpoints split the work into.
        draws : Draws
            Random numbers; the same for all plans that are compared.

        Raises
        ------
        PredictionError
            If the policy does not apply, or the job does not finish.
        """


POLICIES: Final[Registry[type[Policy]]] = Registry("policy", "advisor.transient.policies")
