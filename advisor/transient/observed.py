"""Observed lifetimes: intervals that a machine was last seen alive and first seen gone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from advisor.transient.lifetime import Lifetime

# An event that a lifetime holds impossible costs much, but not everything.
LEAST_CHANCE: Final = 1e-12
# A stop at the start was in this time: clocks of histories tell seconds.
CLOCK_S: Final = 1.0


@dataclass(frozen=True, eq=False)
class Observed:
    """Machines, each revoked between two ages or still alive at the first of them.

    Parameters
    ----------
    from_s : array, shape (rows,)
        Age at which the machine was last known to be alive [s].
    to_s : array, shape (rows,)
        Age at which it was known to be revoked [s]; infinite: it was not seen to be revoked.
    machines : array, shape (rows,)
        Machines of the row.
    """

    from_s: FloatArray
    to_s: FloatArray
    machines: FloatArray

    def __post_init__(self) -> None:
        if not len(self.from_s) == len(self.to_s) == len(self.machines):
            raise InvalidInputError("columns of unequal length.", where="observed lifetimes")
        if not self.machines.sum() > 0:
            raise InvalidInputError(
                "there is no machine in it.",
                where="observed lifetimes",
                todo="Give at least one machine with start and stop.",
            )
        if not (np.isfinite(self.from_s).all() and not np.isnan(self.to_s).any()):
            raise InvalidInputError(
                "an age is no number.",
                where="observed lifetimes",
                todo="Give the age of every machine in seconds.",
            )
        if (self.from_s < 0).any() or (self.to_s < self.from_s).any():
            raise InvalidInputError(
                "a lifetime is negative.",
                where="observed lifetimes",
                todo="Check that every machine stops after it starts.",
            )

    @classmethod
    def of_times(cls, lifetime_s: FloatArray, revoked: FloatArray) -> Self:
        """Make observations of known ages; what was not revoked is right-censored.

        An age of 0 is known to the second only: a front-loaded lifetime has no finite density
        there.
        """
        age = np.asarray(lifetime_s, float)
        gone = np.where(np.asarray(revoked, bool), np.where(age == 0, CLOCK_S, age), np.inf)
        return cls(age, gone, np.ones(len(age)))

    @property
    def n(self) -> float:
        """Machines."""
        return float(self.machines.sum())

    @property
    def revocations(self) -> float:
        """Machines seen to be revoked."""
        return float(self.machines[np.isfinite(self.to_s)].sum())

    def joined(self, *others: Observed) -> Observed:
        """Return these and other observations as one."""
        every = (self, *others)
        return Observed(
            np.concatenate([one.from_s for one in every]),
            np.concatenate([one.to_s for one in every]),
            np.concatenate([one.machines for one in every]),
        )

    def life_table(self, edges_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Count revocations and exposure between ages.

        A revocation known to an interval counts half of it as exposure, and spreads evenly over
        the bins it touches.

        Parameters
        ----------
        edges_s : array, shape (bins + 1,)
            Ages that bound the bins [s]; the last may be infinite.

        Returns
        -------
        events, exposure_s : array, shape (bins,)
            Revocations, and machine-seconds at risk.
        """
        events = np.zeros(len(edges_s) - 1)
        exposure = np.zeros(len(edges_s) - 1)
        gone = np.isfinite(self.to_s)
        last = np.where(gone, (self.from_s + np.where(gone, self.to_s, 0.0)) / 2, self.from_s)
        width = np.where(gone, np.where(gone, self.to_s, 0.0) - self.from_s, 0.0)
        for place, (low, high) in enumerate(pairwise(edges_s)):
            at_risk = np.clip(last, low, high) - low
            exposure[place] = (self.machines * at_risk).sum()
            inside = np.clip(self.to_s, low, high) - np.clip(self.from_s, low, high)
            exact = (self.from_s >= low) & (self.from_s < high)
            share = np.where(width > 0, inside / np.where(width > 0, width, 1.0), exact)
            events[place] = (self.machines * share)[gone].sum()
        return events, exposure

    def log_likelihood(self, lifetime: Lifetime) -> float:
        """Log-likelihood of a lifetime (natural logarithm); revocations by the cap do not count.

        A known age counts with its density, an interval with its probability.
        """
        low = lifetime.cumulative_hazard(self.from_s)
        gone = np.isfinite(self.to_s)
        value = -low
        exact = gone & (self.to_s == self.from_s)
        between = gone & ~exact
        grown = lifetime.cumulative_hazard(self.to_s[between]) - low[between]
        value[between] += np.log(_at_least(-np.expm1(-grown)))
        value[exact] += np.log(_at_least(lifetime.hazard(self.from_s[exact])))
        return float((self.machines * value).sum())


def _at_least(share: FloatArray) -> FloatArray:
    return np.maximum(share, LEAST_CHANCE)
