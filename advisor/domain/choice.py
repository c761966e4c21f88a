"""Why a plan won, what it hangs on, and how sure that is."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from advisor.domain.base import Noun
from advisor.domain.cluster import Cluster
from advisor.domain.hardware import Market

Assumption = Literal["step time", "price", "start-up", "interruption rate", "out of memory"]


class Option(Noun):
    """A plan that could have been chosen, in short."""

    cluster: Cluster
    market: Market
    cost_usd: float = Field(ge=0)
    hours: float = Field(gt=0)


class Flip(Noun):
    """A change of one quantity alone that makes another plan the cheapest."""

    change: str = Field(description="The quantity and where it flips, in words.")
    now: str = Field(description="What it is today, in words.")
    by: str = Field(description="The distance, in words; empty where there is none.")
    then: Option | None = Field(description="Cheapest then; None: nothing would be left.")


class Swing(Noun):
    """What one assumption moves the bill by over its 80 % range, the others as they are."""

    assumption: Assumption
    low: str = Field(description="Lower end of the range, in words.")
    high: str = Field(description="Upper end of the range, in words.")
    low_usd: float = Field(ge=0, description="Bill at the lower end.")
    high_usd: float = Field(ge=0, description="Bill at the upper end.")
    overtaken: bool = Field(description="Whether the order of the two changes within the range.")

    @property
    def width_usd(self) -> float:
        """How far the bill moves."""
        return abs(self.high_usd - self.low_usd)


class BreakEven(Noun):
    """The bills of the chosen plan and its rival against one uncertain quantity of the first."""

    assumption: Assumption
    factor: tuple[float, ...] = Field(description="Of the quantity; 1 is as predicted.")
    chosen_usd: tuple[float, ...]
    rival_usd: float = Field(ge=0)
    low: float = Field(gt=0, description="Factor at the lower end of its 80 % range.")
    high: float = Field(gt=0, description="Factor at the upper end.")
    crossing: float | None = Field(
        default=None, gt=0, description="Factor where the bills are equal; None: nowhere near."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.factor) != len(self.chosen_usd):
            raise ValueError("every factor needs its bill")
        if not self.low <= self.high:
            raise ValueError("the range ends before it begins")
        return self


class Binding(Noun):
    """A limit without which another plan would be picked."""

    limit: str
    saving_usd: float = Field(description="By how much that plan costs less; negative: more.")
    saving_hours: float = Field(description="By how much it finishes sooner.")
    then: Option


class Duel(Noun):
    """The chosen plan against another: how often its bill is the lower one."""

    other: Option
    beats_probability: float = Field(ge=0, le=1)
    regret_usd: float = Field(ge=0, description="Expected, of taking the other instead.")


class Choice(Noun):
    """Why a plan was chosen, and what that hangs on; about the bill unless it says otherwise."""

    chosen: Option
    why: tuple[str, ...] = Field(description="In sentences.")
    rival: Option | None = Field(description="The plan to beat; None: there is no other.")
    bindings: tuple[Binding, ...]
    flips: tuple[Flip, ...]
    swings: tuple[Swing, ...] = Field(description="Widest first.")
    break_evens: tuple[BreakEven, ...]
    cheapest_probability: float = Field(ge=0, le=1, description="Among all that could be.")
    regret_usd: float = Field(ge=0, description="Expected bill above that of the best.")
    duels: tuple[Duel, ...] = Field(description="Likeliest to be cheaper first.")
    robust: Option = Field(description="The plan with the least expected regret.")
    robust_regret_usd: float = Field(ge=0)
    considered: int = Field(ge=1, description="Plans that could turn out cheapest.")
