"""What lies between two plans: what changed, and what each change did to the bill."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from advisor.domain.base import Noun

Cause = Literal["job", "limits", "prices", "predictor", "plan", "rest"]


class Change(Noun):
    """One thing that is not the same; empty where it was not there or is no more."""

    cause: Cause
    name: str = Field(min_length=1)
    before: str
    after: str


class Effect(Noun):
    """What a change did to the median bill, every change before it already made."""

    cause: Cause
    usd: float
    reason: str = Field(min_length=1)


class PlanDifference(Noun):
    """From one plan to another; the effects sum to the difference of the bills."""

    before_usd: float = Field(ge=0)
    after_usd: float = Field(ge=0)
    changes: tuple[Change, ...] = ()
    effects: tuple[Effect, ...] = Field(default=(), description="Empty where nothing changed.")
    notes: tuple[str, ...] = Field(default=(), description="What the effects cannot tell apart.")

    @property
    def usd(self) -> float:
        """By how much the bill went up."""
        return self.after_usd - self.before_usd
