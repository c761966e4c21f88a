"""Time as a sum of costs per unit of work: few runs, known physics, an honest spread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.special import ndtri
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from advisor.core.errors import PredictionError
from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.utils import Tags


class AdditiveCostRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Non-negative cost of every unit of work, fitted by the relative error of the sum.

    Columns that grow together in the measured runs (FLOPs and layers of one family of networks)
    share their time in any proportion; a prior from the data sheet decides what the runs leave
    open, and is worth `strength` runs. The spread comes from groups that were held out, and is
    wider where the work lies in a direction that no run has measured (the leverage).

    Source: Lawson and Hanson, 1974, chapter 23 (non-negative least squares); the prior is a ridge
    towards it; leverage as in Hoaglin and Welsch, 1978, doi:10.1080/00031305.1978.10479237.

    Parameters
    ----------
    prior : sequence of float, optional
        Expected cost of a unit of every column; NaN where nothing is expected.
    strength : float
        Runs that the prior is worth.
    level : float
        Share of outcomes that the interval shall cover.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Costs.
    scores_ : array of shape (n,)
        Log residual of every run from a fit without its group, over its expected growth.
    """

    def __init__(
        self,
        *,
        prior: Sequence[float] | None = None,
        strength: float = 1.0,
        level: float = 0.9,
    ) -> None:
        self.prior = prior
        self.strength = strength
        self.level = level

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:  # noqa: N803
        """Fit to measured times.

        Parameters
        ----------
        X : array of shape (n, n_features)
            Work, not negative.
        y : array of shape (n,)
            Measured times, positive.
        groups : array of shape (n,), optional
            What is held out together for the spread (runs of one network); by default every run
            is alone.
        """
        work, time = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        check_non_negative(work, type(self).__name__)
        if not np.all(time > 0):
            raise ValueError("times must be positive")
        if self.prior is not None and len(self.prior) != work.shape[1]:
            raise ValueError(f"prior has {len(self.prior)} costs for {work.shape[1]} columns")
        labels = np.arange(len(time)) if groups is None else np.asarray(groups)
        check_consistent_length(time, labels)
        self.coef_, self.covariance_ = self._solved(work, time)
        self.scores_ = self._held_out(work, time, labels)
        return self

    def predict(self, X: ArrayLike) -> FloatArray:  # noqa: N803 - scikit-learn's name
        """Return the times, shape (n,)."""
        return np.asarray(self._checked(X) @ self.coef_)

    def log_sigma(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        """Return the standard deviation of a log-normal with the interval at `level`, shape (n,).

        Raises
        ------
        PredictionError
            If all runs are of one group.
        """
        size = np.sort(np.abs(self.scores_))
        if not len(size):
            raise PredictionError(
                "an interval needs runs of two groups.",
                where="measured runs",
                todo="Add a run of another network.",
            )
        # The rank of the finite-sample conformal quantile, or the largest where that is beyond.
        rank = min(math.ceil(self.level * (len(size) + 1)), len(size))
        growth = _growth(self._checked(X), self.coef_, self.covariance_)
        return np.asarray(size[rank - 1] / ndtri(0.5 + self.level / 2) * growth)

    def predict_interval(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:  # noqa: N803
        """Return lower and upper bounds at `level`, each of shape (n,)."""
        half = np.exp(ndtri(0.5 + self.level / 2) * self.log_sigma(X))
        time = self.predict(X)
        return time / half, time * half

    def _checked(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        check_is_fitted(self)
        work = validate_data(self, X, reset=False, dtype=np.float64)
        check_non_negative(work, type(self).__name__)
        return np.asarray(work)

    def _solved(self, work: FloatArray, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the costs and their covariance in units of the squared relative error."""
        design, target = work / time[:, None], np.ones(len(time))
        if self.prior is not None:
            expected = np.asarray(self.prior, float)
            known = np.isfinite(expected)
            # So long as the prior is right, a column's part of the time is off by one run's error.
            weight = math.sqrt(self.strength) * design.mean(axis=0)
            design = np.vstack([design, np.diag(weight)[known]])
            target = np.concatenate([target, (weight * np.where(known, expected, 0.0))[known]])
        found, _ = nnls(design, target)
        return np.asarray(found), np.asarray(np.linalg.pinv(design.T @ design))

    def _held_out(self, work: FloatArray, time: FloatArray, labels: np.ndarray) -> FloatArray:
        names = np.unique(labels)
        scores = np.empty(len(time) if len(names) > 1 else 0)
        for name in names if len(names) > 1 else ():
            held = labels == name
            coef, covariance = self._solved(work[~held], time[~held])
            with np.errstate(divide="ignore"):  # a time of nothing is as wrong as can be
                residual = np.log(time[held]) - np.log(work[held] @ coef)
            scores[held] = residual / _growth(work[held], coef, covariance)
        return scores


def _growth(work: FloatArray, coef: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return how much wider a prediction spreads than a measured run: √(1 + leverage)."""
    time = np.maximum(work @ coef, np.finfo(float).tiny)
    share = work / time[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        leverage = np.einsum("ij,jk,ik->i", share, covariance, share)
    return np.asarray(np.sqrt(1 + np.maximum(np.nan_to_num(leverage, nan=0.0), 0.0)))
