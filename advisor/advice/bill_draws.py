"""Bills that the same plans could turn out to have, drawn together: common errors cancel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr
from scipy.stats import poisson
from scipy.stats.qmc import MultivariateNormalQMC

from advisor.advice.contenders import entry_covariance
from advisor.advice.what_if import Changed, bills

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.predictor.arrays import FloatArray
    from advisor.search.search import Evaluated

DRAWS: Final = 1024


@dataclass(frozen=True, slots=True)
class BillDraws:
    """Drawn bills [USD], shape (plans, draws); a column is one way that things turn out."""

    costs: FloatArray

    def beats(self, first: int) -> FloatArray:
        """Return the chance that the bill of one plan is below that of each; a tie is half."""
        own = self.costs[first]
        return np.asarray((own < self.costs).mean(axis=1) + (own == self.costs).mean(axis=1) / 2)

    @property
    def cheapest(self) -> FloatArray:
        """Return the chance of each to be the cheapest, shape (plans,); ties are shared."""
        least = self.costs == self.costs.min(axis=0)
        return np.asarray((least / least.sum(axis=0)).mean(axis=1))

    @property
    def regret_usd(self) -> FloatArray:
        """Return by how much each is expected to cost more than what turns out cheapest [USD]."""
        return np.asarray((self.costs - self.costs.min(axis=0)).mean(axis=1))


def bill_draws(evaluated: Evaluated, rows: np.ndarray, engine: Engine) -> BillDraws:
    """Draw the bills of some plans.

    Errors of the step are jointly normal in the logarithm with the covariance of the predictor's
    own held-out errors, so that what one model gets wrong on two machines alike cancels between
    them; repeats of a run, starts and interruptions (Poisson, about their expected number) are
    each plan's own. Running out of memory is one error of the memory model for all: what fails on
    one machine with a low chance fails on those with a higher one. Quasi-random with a fixed
    seed: the same plans give the same draws.

    Parameters
    ----------
    evaluated : Evaluated
        The answer's table.
    rows : array of int
        Its rows.
    engine : Engine
        What predicted it.
    """
    table, n = evaluated.plans.iloc[rows], len(rows)
    joint = entry_covariance(evaluated, table["entry"].to_numpy(), engine)
    values, vectors = np.linalg.eigh(joint)
    root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]  # what varies most, first
    normal = MultivariateNormalQMC(np.zeros(4 * n + 1), rng=0).random(DRAWS).T
    error, repeat, start, strike = (normal[1 + k * n : 1 + (k + 1) * n] for k in range(4))
    repeat_sigma = engine.predictor.model.components.repeat_sigma
    step = np.exp(root @ error + repeat_sigma * repeat)
    often = _struck(np.nan_to_num(table["revocations"].to_numpy(float)), ndtr(strike))
    costs = bills(
        evaluated,
        rows,
        Changed(
            step=step,
            startup=np.exp(table["startup_log_sigma"].to_numpy()[:, None] * start),
            interruptions=often,
            # One error for all plans: the same job does not fit, wherever it runs.
            failed=(ndtr(normal[0]) < table["out_of_memory"].to_numpy()[:, None]).astype(float),
        ),
    )
    return BillDraws(costs)


def _struck(expected: FloatArray, level: FloatArray) -> FloatArray:
    """Return Poisson numbers at levels of their law, as shares of the expected ones.

    Where none are expected it is 1: there is nothing that could be more or less.
    """
    found = np.ones_like(level)
    for row in np.flatnonzero(expected > 0):
        most = np.ceil(expected[row] + 10 * np.sqrt(expected[row]) + 10)
        reached = poisson.cdf(np.arange(most), expected[row])
        found[row] = np.searchsorted(reached, level[row]) / expected[row]
    return found
