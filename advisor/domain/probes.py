"""Short measurements before a choice: what each costs, and how much surer it makes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.cluster import Cluster
from advisor.domain.hardware import Offer


class ProbeRun(Noun):
    """A few steps of the job on some machines."""

    cluster: Cluster
    offer: Offer
    duration_s: float = Field(gt=0, description="Of the run, without the start.")
    wait_s: float = Field(ge=0, description="Until the machines have started.")
    cost_usd: float = Field(ge=0, description="Machines while they start and run.")


class Probe(Noun):
    """Short runs to be measured together before the choice is made.

    The regret and the chance are those of the choice made afterwards, as `Probes` has them of
    the choice made now.
    """

    runs: Annotated[tuple[ProbeRun, ...], Field(min_length=1)]
    regret_usd: float = Field(ge=0)
    wrong_probability: float = Field(ge=0, le=1)
    pays: bool = Field(description="Whether it lowers the expected regret by more than its cost.")

    @property
    def cost_usd(self) -> float:
        """What all runs cost."""
        return sum(run.cost_usd for run in self.runs)

    @property
    def wait_s(self) -> float:
        """Until all machines have started, ordered at once."""
        return max(run.wait_s for run in self.runs)


class Probes(Noun):
    """What could be measured before choosing the cheapest plan, the most worth it first.

    Regret is the bill of the chosen plan above that of the plan that turns out cheapest; the
    choice is wrong where another plan is cheaper by more than 10 %.
    """

    regret_usd: float = Field(ge=0, description="Expected, choosing now.")
    wrong_probability: float = Field(ge=0, le=1, description="Choosing now.")
    plans: int = Field(ge=1, description="How many could turn out cheapest and were compared.")
    probes: tuple[Probe, ...] = ()

    @property
    def best(self) -> Probe | None:
        """The probe most worth it; None where none pays."""
        return next((probe for probe in self.probes if probe.pays), None)
