"""Intervals: conformal, by how hard the prediction is, wider with distance from the data."""

from __future__ import annotations

from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from advisor.predictor.arrays import FloatArray

FEWEST_RESIDUALS: Final = 30


class GroupConformal(BaseEstimator):  # type: ignore[misc]
    """Bounds for the logarithm of a quantity from residuals of held-out groups.

    A conformal quantile is taken per difficulty group, of residuals divided by a scale that
    grows with the distance from the training data. Residuals of one source or model are alike,
    so each stratum counts equally, however many rows it has, and the finite-sample correction
    ``(n+1)/n`` takes for n the effective number of strata. A group with too few residuals uses
    those of its family; one with too few strata for a corrected quantile of its own uses the
    wider of the plain one and its family's.

    Source: Papadopoulos et al., 2002 (normalised conformal prediction); Vovk, 2012, arXiv
    1209.2673 (Mondrian groups); Dunn, Wasserman and Ramdas, 2018, arXiv 1809.07441 (strata).

    Parameters
    ----------
    level : float
        Share of outcomes the interval shall cover.
    growth : float
        Width gained per unit of distance.
    siblings : int
        Groups ``k · siblings … (k+1) · siblings - 1`` are family k.
    easier : tuple of tuples of int
        For every family those that ask easier questions: an interval is never narrower than
        that of the same sibling there, and equal to the widest of them where there are no
        residuals. By default no family is easier than another.

    Attributes
    ----------
    half_width_ : dict of int to float
        Half width of the log interval by group, at distance 0.
    family_half_width_ : dict of int to float
        The same by family.
    pooled_half_width_ : float
        The same over everything.
    """

    def __init__(
        self,
        *,
        level: float = 0.9,
        growth: float = 0.1,
        siblings: int = 1,
        easier: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        self.level = level
        self.growth = growth
        self.siblings = siblings
        self.easier = easier

    def fit(
        self,
        groups: ArrayLike,
        distance: ArrayLike,
        residual: ArrayLike,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Fit to log residuals of held-out predictions.

        Parameters
        ----------
        groups, distance, residual : array of shape (n,)
            Difficulty group (not negative), distance from the training data, log residual.
        strata : array of int, shape (n, levels), optional
            What makes residuals alike, coarsest first; by default every row is its own.
        """
        group = check_array(groups, ensure_2d=False, dtype=int)
        score = np.abs(check_array(residual, ensure_2d=False, dtype=float))
        score = score / self._scale(check_array(distance, ensure_2d=False, dtype=float))
        rows = np.arange(len(group))[:, None]
        alike = rows if strata is None else check_array(strata, dtype=int)
        check_consistent_length(group, score, alike)
        self.pooled_half_width_ = self._quantile(score, alike)[0]
        self.family_half_width_: dict[int, float] = {}
        self.half_width_: dict[int, float] = {}
        family = group // self.siblings
        for key in np.unique(family).tolist():
            own = self._own(score, alike, family == key, self.pooled_half_width_)
            self.family_half_width_[key] = own
        for key in np.unique(group).tolist():
            wider = self.family_half_width_[key // self.siblings]
            self.half_width_[key] = self._own(score, alike, group == key, wider)
        return self

    def half_width(self, groups: ArrayLike, distance: ArrayLike) -> FloatArray:
        """Return the half width of the log interval, shape (n,)."""
        check_is_fitted(self)
        group = np.asarray(groups, dtype=int)
        keys, position = np.unique(group, return_inverse=True)
        widths = np.array([self._width(key) for key in keys.tolist()])
        return np.asarray(widths[position] * self._scale(np.asarray(distance, dtype=float)))

    def sigma(self, groups: ArrayLike, distance: ArrayLike) -> FloatArray:
        """Return the standard deviation of a log-normal with the same interval, shape (n,)."""
        return self.half_width(groups, distance) / float(ndtri(0.5 + self.level / 2))

    def _width(self, key: int) -> float:
        family, sibling = divmod(key, self.siblings)
        below = self.easier[family] if family < len(self.easier) else ()
        floors = [self._width(other * self.siblings + sibling) for other in below]
        if key in self.half_width_ or family in self.family_half_width_ or not floors:
            of_family = self.family_half_width_.get(family, self.pooled_half_width_)
            floors.append(self.half_width_.get(key, of_family))
        return max(floors)

    def _scale(self, distance: FloatArray) -> FloatArray:
        return 1 + self.growth * distance

    def _own(self, score: FloatArray, strata: np.ndarray, rows: np.ndarray, wider: float) -> float:
        """Return the quantile of `rows`, as far as they are enough for one."""
        if np.count_nonzero(rows) < FEWEST_RESIDUALS:
            return wider
        own, enough = self._quantile(score[rows], strata[rows])
        return own if enough else max(own, wider)

    def _quantile(self, score: FloatArray, strata: np.ndarray) -> tuple[float, bool]:
        """Return the conformal quantile, and whether there are enough strata for one."""
        weights, number = equal_weights(strata)
        corrected = self.level * (number + 1) / number
        level = corrected if corrected <= 1 else self.level
        order = np.argsort(score, kind="stable")
        # The sum of weights carries rounding errors; the rank shall not.
        reached = np.searchsorted(np.cumsum(weights[order]), level - 1e-9)
        return float(score[order][min(int(reached), len(score) - 1)]), corrected <= 1


def equal_weights(strata: np.ndarray) -> tuple[FloatArray, float]:
    """Return weights that sum to 1, equal over strata at every level, and their number.

    The number of the finest strata is Kish's effective one, ``1 / Σ w²``: where one source has
    a thousand models and nine others have one, it is nearer to ten than to a thousand.

    Examples
    --------
    Two sources; the first has two models, one of them two rows:

    >>> weights, number = equal_weights(np.array([[0, 0], [0, 1], [0, 1], [1, 2]]))
    >>> weights.tolist(), round(number, 2)
    ([0.25, 0.125, 0.125, 0.5], 2.67)
    """
    weights = np.ones(len(strata))
    code = np.zeros(len(strata), dtype=int)
    for level in strata.T:
        pairs, finer = np.unique(np.stack([code, level]), axis=1, return_inverse=True)
        weights /= np.bincount(pairs[0])[code]
        code = finer.reshape(-1)
    weights /= np.bincount(code)[code]
    return weights, float(1 / np.sum(np.bincount(code, weights) ** 2))
