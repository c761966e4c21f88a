"""How much of a prediction's error each random effect makes, from held-out residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri

from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import KINDS
from advisor.predictor.difficulty import NEW_BOTH, NEW_MODEL
from advisor.predictor.effects import EFFECTS, Labels, alike
from advisor.predictor.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.held_out import Residuals

# Rows of one source and fold, and of one workload on one accelerator, that the likelihood sees:
# a large table does not speak for all, and a fit takes less than a second.
MOST_ROWS: Final = 60
MOST_OF_A_CELL: Final = 6
# Standardised residuals beyond this count as this: slips of a source are not effects.
LARGEST_RESIDUAL: Final = 3.0
FEWEST_REPEATS: Final = 10
# Where the data have no repeats: the median over the sources that train the shipped predictor.
USUAL_REPEAT_SIGMA: Final = 0.15
LEVEL: Final = 0.9


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Shares of the variance of a prediction's error by effect (they sum to 1), and repeats.

    ``repeat_sigma`` is the spread of the logarithm between runs of one job.
    """

    shares: FloatArray
    repeat_sigma: float

    def correlation(self, first: Labels, second: Labels) -> FloatArray:
        """Return how the errors of two sets of predictions go together, shape (first, second)."""
        found = np.zeros((len(first), len(second)))
        for share, same in zip(self.shares, alike(first, second), strict=True):
            found += share * same
        return found


@dataclass(frozen=True, slots=True)
class _Block:
    """Held-out predictions of one source and fold: effects, shape (effects, n, n), residuals."""

    effects: FloatArray
    residual: FloatArray


def fit_components(
    labels: Labels, source: np.ndarray, held: Residuals, sigma: FloatArray
) -> VarianceComponents:
    """Fit the variance components of nested random effects by maximum likelihood.

    Residuals are divided by the spread that the interval states, so that the components are
    shares of it; within a source and fold they are Gaussian with the sum of the effects as
    covariance. What none of the others explains belongs to the job. Only predictions of models
    that the fit had not seen are looked at, as far as there are any: a user's own are mostly new,
    and what is left of a known model's error its runs have nearly nothing to tell about.

    Parameters
    ----------
    labels : Labels
        Of all runs.
    source : array of int, shape (runs,)
        Who measured each run: to the effects, a user.
    held : Residuals
        Of held-out predictions of the runs.
    sigma : array
        Spread of the logarithm stated for each held-out prediction.

    Source: Searle, Casella and McCulloch, 1992, Variance Components, section 6.2.
    """
    standardised = np.clip(held.residual / sigma, -LARGEST_RESIDUAL, LARGEST_RESIDUAL)
    new = np.isin(held.groups // len(KINDS), (NEW_MODEL, NEW_BOTH))
    asked = np.flatnonzero(new if new.any() else ~new)
    blocks = list(_blocks(labels, source, held, standardised, asked))
    variances = np.full(len(EFFECTS), 1 / len(EFFECTS))
    if blocks:
        with one_thread():
            variances = _maximum_likelihood(blocks)
    return VarianceComponents(
        shares=variances / variances.sum(),
        repeat_sigma=repeat_sigma(labels, source, held),
    )


def _blocks(
    labels: Labels,
    source: np.ndarray,
    held: Residuals,
    standardised: FloatArray,
    asked: np.ndarray,
) -> Iterator[_Block]:
    random = np.random.default_rng(0)
    cell = np.unique(
        np.concatenate([labels.workload, labels.accelerator], axis=1), axis=0, return_inverse=True
    )[1].reshape(-1)
    turn = random.permutation(len(cell))  # whole cells, in a shuffled order
    for fold in np.unique(held.fold[asked]):
        in_fold = asked[held.fold[asked] == fold]
        for name in np.unique(source[held.rows[in_fold]]):
            rows = random.permutation(in_fold[source[held.rows[in_fold]] == name])
            cells = cell[held.rows[rows]]
            rows = rows[_rank_within(cells) < MOST_OF_A_CELL]
            order = np.argsort(turn[cell[held.rows[rows]]], kind="stable")[:MOST_ROWS]
            rows = rows[order]
            if len(rows) < 2:
                continue
            own = labels.take(held.rows[rows])
            # What only a job has no other row of the block is known to share.
            effects = [*alike(own, own)][:-1]
            yield _Block(np.stack([*effects, np.eye(len(rows))]), standardised[rows])


def _rank_within(labels: np.ndarray) -> np.ndarray:
    """Return how many equal labels stand before each.

    >>> _rank_within(np.array([7, 5, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff([*starts, len(labels)])
    rank = np.empty(len(labels), dtype=int)
    rank[order] = np.arange(len(labels)) - np.repeat(starts, lengths)
    return rank


def _maximum_likelihood(blocks: list[_Block]) -> FloatArray:
    size = len(EFFECTS)

    def misfit(log_variance: FloatArray) -> tuple[float, FloatArray]:
        variance = np.exp(log_variance)
        value, slope = 0.0, np.zeros(size)
        for block in blocks:
            covariance = np.tensordot(variance, block.effects, axes=1)
            inverse = np.linalg.inv(covariance)
            pulled = inverse @ block.residual
            value += 0.5 * (np.linalg.slogdet(covariance)[1] + block.residual @ pulled)
            flat = block.effects.reshape(size, -1)
            slope += 0.5 * flat @ (inverse - np.outer(pulled, pulled)).reshape(-1)
        return value, slope * variance

    start = np.full(size, np.log(0.1))
    result = minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=[(-8.0, 3.0)] * size)
    return np.asarray(np.exp(result.x))


def repeat_sigma(labels: Labels, source: np.ndarray, held: Residuals) -> float:
    """Return the spread of the logarithm between runs of one job: the median over sources.

    Per source, the 90 % quantile of the deviation from the job's mean as that of a Gaussian;
    layouts of one job differ, and with them the error of their predictions.
    """
    job = labels.groups()[held.rows]
    _, key = np.unique(np.stack([held.fold, source[held.rows], job]), axis=1, return_inverse=True)
    key = key.reshape(-1)
    number = np.bincount(key)[key]
    mean = (np.bincount(key, held.residual) / np.bincount(key))[key]
    repeated = number > 1
    unbiased = np.sqrt(number[repeated] / (number[repeated] - 1))
    deviation = np.abs(held.residual - mean)[repeated] * unbiased
    of = source[held.rows][repeated]
    spreads = [
        float(np.quantile(deviation[of == name], LEVEL) / ndtri(0.5 + LEVEL / 2))
        for name in np.unique(of)
        if np.count_nonzero(of == name) >= FEWEST_REPEATS
    ]
    return float(np.median(spreads)) if spreads else USUAL_REPEAT_SIGMA
