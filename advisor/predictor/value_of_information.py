"""What a measurement is worth before it is made: how far it lowers the regret of a choice.

Choices cost ``fixed + variable × exp(error)``; the errors are jointly Gaussian with known
covariance, so what a measured run leaves of them is known without its outcome (Rasmussen and
Williams, 2006, equation 2.26), and only its mean has to be drawn. Knowledge-gradient policy of
Frazier, Powell and Dayanik, 2009, INFORMS Journal on Computing 21(4), for sets of measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from scipy.stats.qmc import MultivariateNormalQMC

from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS: Final = 512
# A choice is wrong where another one would have cost less by more than this share.
TOLERANCE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Choices:
    """Alternatives of which one is taken, and what their costs are uncertain by.

    Attributes
    ----------
    fixed, variable : array, shape (n,)
        Cost of each is ``fixed + variable × exp(error)``; any unit.
    covariance : array, shape (n, n)
        Of the errors, whose means are 0.
    """

    fixed: FloatArray
    variable: FloatArray
    covariance: FloatArray

    def expected(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return expected costs given mean and variance of the errors, shape (n, …)."""
        return self.fixed[:, None] + self.variable[:, None] * np.exp(mean + variance[:, None] / 2)

    def best(self) -> int:
        """Return the choice with the least expected cost, nothing being measured."""
        nothing = np.zeros((len(self.fixed), 1))
        return int(np.argmin(self.expected(nothing, np.diag(self.covariance))))


@dataclass(frozen=True, slots=True)
class Worth:
    """Expected regret of choosing, and chance to choose wrong, before and after measuring.

    Regret is the cost of what is chosen above that of what would have been cheapest, in the unit
    of the costs; wrong is a choice that another undercuts by more than `TOLERANCE`. Arrays have
    one entry per set of measurements.
    """

    best: int
    regret_before: float
    wrong_before: float
    regret_after: FloatArray
    wrong_after: FloatArray

    @property
    def saving(self) -> FloatArray:
        """By how much each set lowers the expected regret; never negative."""
        return self.regret_before - self.regret_after


@dataclass(frozen=True, slots=True)
class _Draws:
    """Drawn costs, shape (n, draws), and drawn results of the measurements, shape (p, draws)."""

    costs: FloatArray
    measured: FloatArray

    @classmethod
    def of(cls, choices: Choices, joint: FloatArray, noise: float) -> Self:
        n = len(choices.fixed)
        values, vectors = np.linalg.eigh(joint)
        root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]  # what varies most, first
        normal = MultivariateNormalQMC(np.zeros(2 * len(joint) - n), rng=0).random(DRAWS).T
        errors = root @ normal[: len(joint)]
        repeats = noise * normal[len(joint) :]
        costs = choices.fixed[:, None] + choices.variable[:, None] * np.exp(errors[:n])
        return cls(costs, errors[n:] + repeats)


def worth_of_measuring(
    choices: Choices, joint: FloatArray, noise: float, sets: Sequence[Sequence[int]]
) -> Worth:
    """Return what each of some sets of measurements would be worth, made together.

    The same draws serve before and after, and every set, so that differences between them are
    not chance; the same input gives the same result. The choice is always that of the least
    expected cost. What a set saves is the mean, over its results, of how much less the choice
    made then is expected to cost than today's.

    Parameters
    ----------
    choices : Choices
        What is chosen from, n of them.
    joint : array, shape (n + p, n + p)
        Covariance of the errors of the choices and, after them, of what can be measured.
    noise : float
        Spread of a measurement about the error it measures.
    sets : sequence of sequences of int
        Measurements made together, as positions among the p.
    """
    n = len(choices.fixed)
    draws = _Draws.of(choices, joint, noise)
    best = choices.best()
    cheapest = draws.costs.min(axis=0)
    regret = float(np.mean(draws.costs[best] - cheapest))
    wrong_below = (1 - TOLERANCE) * draws.costs
    wrong = float(np.mean(cheapest < wrong_below[best]))
    saving, wrong_after = np.zeros(len(sets)), np.zeros(len(sets))
    for position, members in enumerate(sets):
        rows = n + np.asarray(members)
        own = joint[np.ix_(rows, rows)]
        measured = draws.measured[rows - n]
        expected = expected_after(choices, joint[:n, rows], own, noise, measured)
        chosen = np.argmin(expected, axis=0)
        least = np.take_along_axis(expected, chosen[None], axis=0)[0]
        saving[position] = np.mean(expected[best] - least)
        then = np.take_along_axis(wrong_below, chosen[None], axis=0)[0]
        wrong_after[position] = np.mean(cheapest < then)
    # What is saved cannot be more than there is to save, but for chance.
    return Worth(best, regret, wrong, np.maximum(regret - saving, 0.0), wrong_after)


def expected_after(
    choices: Choices, shared: FloatArray, own: FloatArray, noise: float, measured: FloatArray
) -> FloatArray:
    """Return what the choices are expected to cost after measurements made together.

    Parameters
    ----------
    choices : Choices
        What is chosen from, n of them.
    shared : array, shape (n, k)
        Covariance of their errors with those that are measured.
    own : array, shape (k, k)
        Covariance of the measured errors.
    noise : float
        Spread of each measurement about its error; more than 0.
    measured : array, shape (k, m)
        m results of the measurements: logarithms of measured ÷ predicted.

    Returns
    -------
    array, shape (n, m)
    """
    weight = np.linalg.solve(own + noise**2 * np.eye(len(own)), shared.T).T
    variance = np.diag(choices.covariance) - np.sum(weight * shared, axis=1)
    return choices.expected(weight @ measured, variance)
