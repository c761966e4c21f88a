"""The answer: picks, the front, what was searched and why."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.calibration import OwnRuns
from advisor.domain.choice import Choice
from advisor.domain.explanation import Explanation
from advisor.domain.plan import Plan
from advisor.domain.probes import Probes
from advisor.domain.workload import Workload


class Pick(Noun):
    """A plan with the reason why it was picked, and the saving against today's set-up."""

    plan: Plan
    reason: str = Field(min_length=1)
    saving_usd: float | None = Field(default=None, description="Against today's set-up.")
    saving_hours: float | None = None


class Advice(Noun):
    """Picks by name, the Pareto front, and an account of the search."""

    only_if_any: ClassVar[tuple[str, ...]] = (
        "own_runs", "caveats", "probes", "explanations", "limits", "options", "runners_up",
        "choices",
    )  # fmt: skip

    workload: Workload
    picks: dict[str, Pick]
    pareto: tuple[Plan, ...]
    current: Plan | None = Field(default=None, description="What the user runs on today.")
    candidates_considered: int = Field(ge=0)
    removed_by: dict[str, int]
    catalog: dict[str, str | int]
    predictor: dict[str, str | int | float]
    own_runs: OwnRuns | None = Field(default=None, description="None where none were given.")
    caveats: tuple[str, ...] = Field(default=(), description="What the predictions leave out.")
    probes: Probes | None = Field(
        default=None, description="What to measure before choosing; None where it was not asked."
    )
    explanations: dict[str, Explanation] = Field(
        default={}, description="Of picks, by name; empty where none was asked."
    )
    choices: dict[str, Choice] = Field(
        default={}, description="Why they were picked, by name; empty where none was asked."
    )
    limits: dict[str, Any] = Field(default={}, description="What the plans had to meet.")
    options: dict[str, Any] = Field(default={}, description="Of the search.")
    runners_up: dict[str, Plan] = Field(
        default={}, description="By pick: the next choice on other machines."
    )
