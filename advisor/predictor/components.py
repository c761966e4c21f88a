"""How much of a prediction's error each random effect makes, from held-out residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri, softmax

from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import KINDS
from advisor.predictor.difficulty import NEW_BOTH, NEW_MODEL
from advisor.predictor.effects import EFFECTS, Labels, alike

if TYPE_CHECKING:
    from advisor.predictor.held_out import Residuals

# Pairs of one source and fold: a large table does not speak for all.
PAIRS: Final = 300
# Of these, so many share no more than their source.
STRANGERS: Final = 60
# Standardised residuals beyond this count as this: slips of a source are not effects.
LARGEST_RESIDUAL: Final = 3.0
# Deviations below this count by their square, so that the sum of them has a slope everywhere.
SMOOTH: Final = 0.05
FEWEST_REPEATS: Final = 10
# Where the data have no repeats: the median over the sources that train the shipped predictor.
USUAL_REPEAT_SIGMA: Final = 0.1


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
class _Pairs:
    """Pairs of held-out predictions: what is known of the one, asked of the other.

    ``alike`` has shape (effects, pairs); ``weight`` makes sources count alike, but for the root
    of how many pairs they have.
    """

    alike: FloatArray
    known: FloatArray
    asked: FloatArray
    weight: FloatArray


def fit_components(
    labels: Labels, source: np.ndarray, held: Residuals, sigma: FloatArray
) -> VarianceComponents:
    """Fit the variance components by how well the error of one prediction tells that of another.

    Residuals are divided by the spread that the interval states, so that the components are
    shares of it. Then a known residual times the correlation that the shares give is what is
    expected of another: the shares are those with the least absolute deviations from it, over
    pairs of one source and fold. Regression over pairs needs no normal residuals, as a likelihood
    does, whose components a few far-off jobs decide. What none of the effects explains belongs to
    the job. Only predictions of models that the fit had not seen are looked at, as far as there
    are any: a user's own are mostly new, and what is left of a known model's error its runs have
    nearly nothing to tell about.

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

    Source: regression over pairs, Haseman and Elston, 1972, Behavior Genetics 2, pages 3-19.
    """
    standardised = np.clip(held.residual / sigma, -LARGEST_RESIDUAL, LARGEST_RESIDUAL)
    new = np.isin(held.groups // len(KINDS), (NEW_MODEL, NEW_BOTH))
    asked = np.flatnonzero(new if new.any() else ~new)
    pairs = _pairs(labels, source, held, standardised, asked)
    shares = np.full(len(EFFECTS), 1 / len(EFFECTS))
    return VarianceComponents(
        shares=shares if pairs is None else _least_deviations(pairs),
        repeat_sigma=repeat_sigma(labels, source, held),
    )


def _pairs(
    labels: Labels,
    source: np.ndarray,
    held: Residuals,
    standardised: FloatArray,
    asked: np.ndarray,
) -> _Pairs | None:
    random = np.random.default_rng(0)
    workload = np.unique(labels.workload, axis=0, return_inverse=True)[1].reshape(-1)[held.rows]
    job = labels.groups()[held.rows]
    found = []
    for fold in np.unique(held.fold[asked]):
        in_fold = asked[held.fold[asked] == fold]
        for name in np.unique(source[held.rows[in_fold]]):
            rows = in_fold[source[held.rows[in_fold]] == name]
            one, other = _draw(rows, workload[rows], random)
            differ = job[one] != job[other]
            if differ.any():
                found.append(np.stack([one[differ], other[differ]]))
    if not found:
        return None
    known, other = np.concatenate(found, axis=1)
    weight = np.concatenate([np.full(some.shape[1], some.shape[1] ** -0.5) for some in found])
    first, second = labels.take(held.rows[known]), labels.take(held.rows[other])
    return _Pairs(
        alike=np.stack(list(alike(first, second, crossed=False))),
        known=standardised[known],
        asked=standardised[other],
        weight=weight / weight.sum(),
    )


def _draw(
    rows: np.ndarray, workload: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows of one workload, and some that need not share it."""
    order = np.argsort(workload, kind="stable")
    rows, ordered = rows[order], workload[order]
    one = random.integers(len(rows), size=PAIRS)
    first = np.searchsorted(ordered, ordered[one], side="left")
    end = np.searchsorted(ordered, ordered[one], side="right")
    end[:STRANGERS], first[:STRANGERS] = len(rows), 0
    return rows[one], rows[random.integers(first, end)]


def _least_deviations(pairs: _Pairs) -> FloatArray:
    """Return the shares, which are positive and sum to 1, that carry errors over best."""

    def misfit(logits: FloatArray) -> tuple[float, FloatArray]:
        shares = softmax(logits)
        off = pairs.asked - shares @ pairs.alike * pairs.known
        size = np.hypot(off, SMOOTH)
        slope = pairs.alike @ (-pairs.weight * off / size * pairs.known)
        return float(pairs.weight @ size), shares * (slope - shares @ slope)

    start = np.zeros(len(EFFECTS))
    result = minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=[(-6.0, 6.0)] * len(start))
    return np.asarray(softmax(result.x))


def repeat_sigma(labels: Labels, source: np.ndarray, held: Residuals) -> float:
    """Return the spread of the logarithm between runs of one job: the median over sources.

    Per source, the median deviation from the job's mean as that of a Gaussian; layouts of one job
    differ, and with them the error of their predictions.
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
        float(np.median(deviation[of == name]) / ndtri(0.75))
        for name in np.unique(of)
        if np.count_nonzero(of == name) >= FEWEST_REPEATS
    ]
    return float(np.median(spreads)) if spreads else USUAL_REPEAT_SIGMA
