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
    grows with the distance from the training data. The finite-sample correction ``(n+1)`` keeps
    the coverage honest for small groups; groups with too few residuals use all of them.

    Source: Papadopoulos et al., 2002 (normalised conformal prediction); Vovk, 2012, arXiv
    1209.2673 (Mondrian groups).

    Parameters
    ----------
    level : float
        Share of outcomes the interval shall cover.
    growth : float
        Width gained per unit of distance.

    Attributes
    ----------
    half_width_ : dict of int to float
        Half width of the log interval by group, at distance 0.
    """

    def __init__(self, *, level: float = 0.9, growth: float = 0.05) -> None:
        self.level = level
        self.growth = growth

    def fit(self, groups: ArrayLike, distance: ArrayLike, residual: ArrayLike) -> Self:
        """Fit to log residuals of held-out predictions, arrays of shape (n,)."""
        group = check_array(groups, ensure_2d=False, dtype=int)
        score = np.abs(check_array(residual, ensure_2d=False, dtype=float))
        score = score / self._scale(check_array(distance, ensure_2d=False, dtype=float))
        check_consistent_length(group, score)
        pooled = self._quantile(score)
        self.half_width_ = {-1: pooled}
        for key in np.unique(group):
            own = score[group == key]
            enough = len(own) >= FEWEST_RESIDUALS
            self.half_width_[int(key)] = self._quantile(own) if enough else pooled
        return self

    def half_width(self, groups: ArrayLike, distance: ArrayLike) -> FloatArray:
        """Return the half width of the log interval, shape (n,)."""
        check_is_fitted(self)
        group = np.asarray(groups, dtype=int)
        known = np.array(sorted(self.half_width_))
        values = np.array([self.half_width_[int(key)] for key in known])
        position = np.clip(np.searchsorted(known, group), 0, len(known) - 1)
        found = known[position] == group
        pooled = self.half_width_[-1]
        widths = np.where(found, values[position], pooled)
        return np.asarray(widths * self._scale(np.asarray(distance, dtype=float)))

    def sigma(self, groups: ArrayLike, distance: ArrayLike) -> FloatArray:
        """Return the standard deviation of a log-normal with the same interval, shape (n,)."""
        return self.half_width(groups, distance) / float(ndtri(0.5 + self.level / 2))

    def _scale(self, distance: FloatArray) -> FloatArray:
        return 1 + self.growth * distance

    def _quantile(self, score: FloatArray) -> float:
        rank = min(1.0, np.ceil((len(score) + 1) * self.level) / max(len(score), 1))
        return float(np.quantile(score, rank, method="higher"))
