"""The learned correction: regression on the residual of the logarithm, fading with distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from advisor.predictor.arrays import FloatArray
from advisor.predictor.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

# At this many times the usual gap between training points the correction has faded by half.
NEAR: Final = 20.0
# Rows that a thread predicts at once: columns that fit the cache, and few enough hand-overs.
ROWS_AT_ONCE: Final = 10_000


class FadingRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted and randomised trees whose mean fades to zero far from their training data.

    Meant for residuals of a physical model: where there is no data the physics stands alone.
    Boosting finds what holds over the whole table, extremely randomised trees what holds between
    near runs; their mean is better than either on runs of another model, accelerator or scale.

    Parameters
    ----------
    max_iter, learning_rate, max_leaf_nodes, min_samples_leaf, l2_regularization
        As in `sklearn.ensemble.HistGradientBoostingRegressor`.
    n_estimators, max_features
        As in `sklearn.ensemble.ExtraTreesRegressor`.
    near : float
        Distance, in units of the 95th percentile of gaps between training points, at which the
        correction has faded by half.

    Attributes
    ----------
    gap_ : float
        95th percentile of the distance from a training point to its nearest other.
    n_iter_ : int
        Trees of the boosting.
    """

    def __init__(
        self,
        *,
        max_iter: int = 200,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 24,
        min_samples_leaf: int = 8,
        l2_regularization: float = 1.0,
        n_estimators: int = 30,
        max_features: float = 0.4,
        near: float = NEAR,
    ) -> None:
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.near = near

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit to residuals `y` of shape (n,) at features `X` of shape (n, features)."""
        features, target = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        boosting = HistGradientBoostingRegressor(
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            early_stopping=False,
            random_state=0,
        )
        trees = ExtraTreesRegressor(
            self.n_estimators, min_samples_leaf=2, max_features=self.max_features, random_state=0
        )
        self.scaler_ = StandardScaler().fit(features)
        points = np.unique(self.scaler_.transform(features), axis=0)
        with one_thread():
            self.boosting_ = boosting.fit(features, target)
            self.trees_ = trees.fit(features, target)
            self.gap_ = self._usual_gap(points)
        known = thinned(points, self.gap_)
        self.neighbours_ = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(known)
        self.n_iter_ = self.boosting_.n_iter_
        return self

    def predict(self, X: ArrayLike, distance: FloatArray | None = None) -> FloatArray:  # noqa: N803
        """Return the faded correction, shape (n,).

        `distance` may be given where `distance(X)` is already known.
        """
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        gaps = self._distance(features) if distance is None else distance
        return self.whole(features) * self.weight(gaps)

    def weight(self, distance: FloatArray) -> FloatArray:
        """Return the share of a correction that is left at a distance, shape (n,)."""
        return 1 / (1 + (distance / self.near) ** 2)

    def whole(self, features: FloatArray) -> FloatArray:
        """Return the correction before it fades, shape (n,)."""
        return _in_parts(self._mean, features)

    def distance(self, X: ArrayLike) -> FloatArray:  # noqa: N803
        """Return the distance to the training data in units of its usual gap, shape (n,).

        Training points within a gap of each other count as one: up to a gap is no distance that
        matters, and the search takes a quarter of the time.
        """
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64)
        return self._distance(features)

    def _distance(self, features: FloatArray) -> FloatArray:
        return _in_parts(self._gaps, self.scaler_.transform(features))

    def _mean(self, features: FloatArray) -> FloatArray:
        return np.asarray(self.boosting_.predict(features) + self.trees_.predict(features)) / 2

    def _gaps(self, points: FloatArray) -> FloatArray:
        return np.asarray(self.neighbours_.kneighbors(points)[0][:, 0]) / self.gap_

    @staticmethod
    def _usual_gap(points: FloatArray) -> float:
        if len(points) < 2:
            return 1.0
        sample = points[:: max(1, len(points) // 1000)]
        pairs = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(points)
        gaps = pairs.kneighbors(sample)[0][:, 1]
        return float(max(np.quantile(gaps, 0.95), 1e-9))


def thinned(points: FloatArray, radius: float) -> FloatArray:
    """Return points so chosen that every one of `points` has one of them within `radius`."""
    left = np.random.default_rng(0).permutation(points)
    kept = []
    while len(left):
        kept.append(left[0])
        left = left[((left - left[0]) ** 2).sum(axis=1) > radius**2]
    return np.array(kept)


def _in_parts(function: Callable[[FloatArray], FloatArray], rows: FloatArray) -> FloatArray:
    """Return what `function` says of all rows, on all cores where they are many."""

    def of(part: FloatArray) -> FloatArray:
        # OpenMP counts its threads per thread, so that each says again that it wants one.
        with one_thread():
            return function(part)

    parts = [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]
    if len(parts) < 2:
        return of(rows)
    with one_thread():
        found = joblib.Parallel(n_jobs=-1, prefer="threads")(joblib.delayed(of)(p) for p in parts)
    return np.concatenate(found)
