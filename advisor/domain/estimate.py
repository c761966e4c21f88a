"""A predicted quantity with its interval and where it came from."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from advisor.domain.base import Noun

Basis = Literal["measured", "calibrated", "interpolated", "extrapolated"]


class Estimate(Noun):
    """A quantity, the bounds it lies between at `level`, and its basis."""

    value: float = Field(ge=0)
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    unit: str
    level: float = Field(default=0.9, gt=0, lt=1)
    basis: Basis

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("the estimate must lie inside its interval")
        return self
