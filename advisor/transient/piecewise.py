"""Lifetimes with a hazard that is constant between given ages: the form every table takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray, Floats
from advisor.transient.lifetime import Lifetime, area_of_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

# A density may be rounded; more than this beyond 1 is a mistake.
ROUNDING: Final = 1e-3


@dataclass(frozen=True, kw_only=True)
class PiecewiseHazard(Lifetime):
    """Hazard `rates_per_s[i]` from age `edges_s[i]` on; the last one holds for ever.

    Parameters
    ----------
    edges_s : tuple of float
        Ages at which the hazard changes, rising from 0 [s].
    rates_per_s : tuple of float
        One hazard for each edge [1/s].
    """

    edges_s: tuple[float, ...]
    rates_per_s: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        edges, rates = np.asarray(self.edges_s, float), np.asarray(self.rates_per_s, float)
        if len(edges) == 0 or len(edges) != len(rates):
            raise InvalidInputError(
                f"{len(edges)} ages and {len(rates)} hazards do not belong together.",
                where="piecewise hazard",
                todo="Give one hazard for each age.",
            )
        if edges[0] != 0 or not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
            raise InvalidInputError(
                "the ages must rise from 0.", where="piecewise hazard", todo="Sort them."
            )
        if not (np.isfinite(rates).all() and (rates >= 0).all()):
            raise InvalidInputError(
                "a hazard is negative or no number.",
                where="piecewise hazard",
                todo="Give hazards of 0 or more.",
            )

    @classmethod
    def from_survival(
        cls, ages_s: Sequence[float], survival: Sequence[float], *, cap_s: float = math.inf
    ) -> Self:
        """Make a lifetime from points of its survival curve, log-linear between them.

        Beyond the last age the last hazard holds.

        Raises
        ------
        InvalidInputError
            If the curve does not start at 1 or rises, or an age is negative.
        """
        ages, alive = np.asarray(ages_s, float), np.asarray(survival, float)
        if len(ages) < 2 or len(ages) != len(alive):
            raise InvalidInputError(
                "a survival curve needs two points or more.", where="survival curve"
            )
        if (ages < 0).any():
            raise InvalidInputError(
                f"an age of {ages.min():g} s is negative.",
                where="survival curve",
                todo="Ages count from the start of the machine.",
            )
        if ages[0] != 0 or alive[0] != 1:
            raise InvalidInputError(
                "the curve must start at age 0 with survival 1.", where="survival curve"
            )
        if not ((alive > 0).all() and (np.diff(alive) <= 0).all()):
            raise InvalidInputError(
                "survival rises, or reaches 0.",
                where="survival curve",
                todo="Give falling values above 0; say with a cap when every machine is stopped.",
            )
        rates = -np.diff(np.log(alive)) / np.diff(ages)
        return cls(edges_s=tuple(ages[:-1]), rates_per_s=tuple(rates), cap_s=cap_s)

    @classmethod
    def from_density(
        cls, edges_s: Sequence[float], density_per_s: Sequence[float], *, cap_s: float = math.inf
    ) -> Self:
        """Make a lifetime from a histogram of its density.

        What the density lacks to 1 are machines that outlive the last edge.

        Raises
        ------
        InvalidInputError
            If it is negative, or integrates to more than 1.
        """
        edges, density = np.asarray(edges_s, float), np.asarray(density_per_s, float)
        if len(edges) != len(density) + 1 or (density < 0).any():
            raise InvalidInputError(
                "a density needs one value of 0 or more between neighbouring ages.",
                where="density of lifetimes",
            )
        mass = density * np.diff(edges)
        if not mass.sum() <= 1 + ROUNDING:
            raise InvalidInputError(
                f"it integrates to {mass.sum():.3g}, not to 1 or less.",
                where="density of lifetimes",
                todo="Give shares per second, not counts.",
            )
        alive = 1 - np.concatenate([[0.0], np.cumsum(mass)])
        return cls.from_survival(tuple(edges), tuple(np.maximum(alive, ROUNDING**2)), cap_s=cap_s)

    @cached_property
    def _edges(self) -> FloatArray:
        return np.asarray(self.edges_s, float)

    @cached_property
    def _rates(self) -> FloatArray:
        return np.asarray(self.rates_per_s, float)

    @cached_property
    def _cumulative(self) -> FloatArray:
        """Cumulative hazard at every edge."""
        grown = np.cumsum(self._rates[:-1] * np.diff(self._edges))
        return np.concatenate([[0.0], grown])

    def _bin(self, age_s: FloatArray) -> np.ndarray:
        return np.clip(np.searchsorted(self._edges, age_s, side="right") - 1, 0, None)

    def cumulative_hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        age = np.asarray(age_s, float)
        place = self._bin(age)
        rate = self._rates[place]
        with np.errstate(invalid="ignore"):  # an age without end under a hazard of 0
            grown = rate * (age - self._edges[place])
        return np.asarray(self._cumulative[place] + np.where(rate > 0, grown, 0.0))

    def age_at(self, cumulative: Floats) -> FloatArray:
        """See `Lifetime`."""
        value = np.asarray(cumulative, float)
        place = np.searchsorted(self._cumulative, value, side="right") - 1
        rate = self._rates[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            age = self._edges[place] + (value - self._cumulative[place]) / rate
        return np.where(rate > 0, age, math.inf)

    def hazard(self, age_s: Floats) -> FloatArray:
        """See `Lifetime`."""
        return np.asarray(self._rates[self._bin(np.asarray(age_s, float))])

    def _area_to(self, age_s: FloatArray, times: FloatArray) -> FloatArray:
        factor, where = np.unique(times, return_inverse=True)  # few factors, many ages
        survived = np.exp(-factor[:, None] * self._cumulative)
        inside = survived[:, :-1] * area_of_constant(
            factor[:, None] * self._rates[:-1], np.diff(self._edges)
        )
        before = np.concatenate([np.zeros((len(factor), 1)), np.cumsum(inside, axis=1)], axis=1)
        place = self._bin(age_s)
        row = np.broadcast_to(where.reshape(times.shape), age_s.shape)
        rest = area_of_constant(times * self._rates[place], age_s - self._edges[place])
        return np.asarray(before[row, place] + survived[row, place] * rest)
