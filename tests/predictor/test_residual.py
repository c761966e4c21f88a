"""The learned correction: a proper estimator that fades to nothing where there are no data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from advisor.predictor import residual
from advisor.predictor.residual import FadingRegressor, thinned

FEW = FadingRegressor(max_iter=30, max_features=1.0)


@parametrize_with_checks([FadingRegressor(max_iter=10)])
def test_scikit_learn_accepts_it(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def fitted() -> FadingRegressor:
    random = np.random.default_rng(0)
    features = random.uniform(-1, 1, (400, 3))
    return clone(FEW).fit(features, np.sin(3 * features[:, 0]) + 0.5)


def test_it_learns_where_there_are_data(fitted) -> None:
    random = np.random.default_rng(1)
    features = random.uniform(-0.8, 0.8, (200, 3))
    error = fitted.predict(features) - (np.sin(3 * features[:, 0]) + 0.5)
    assert np.median(np.abs(error)) < 0.1


def test_it_fades_to_nothing_far_away(fitted) -> None:
    steps = np.array([1.0, 10.0, 100.0, 1e3, 1e6])
    correction = np.abs(fitted.predict(np.outer(steps, [1.0, 0.0, 0.0])))
    assert (np.diff(correction) < 0).all()
    assert correction[2] < 0.05 * correction[0]
    assert correction[-1] < 1e-6


def test_half_is_left_at_the_stated_distance(fitted) -> None:
    point = np.array([[2.0, 0.0, 0.0]])
    whole = fitted.whole(point)
    assert fitted.predict(point, distance=np.array([fitted.near])) == pytest.approx(whole / 2)
    assert fitted.predict(point, distance=np.zeros(1)) == pytest.approx(whole)


def test_the_distance_is_in_units_of_usual_gaps_and_points_within_one_count_as_one() -> None:
    grid = np.arange(100.0).reshape(-1, 1)
    on_grid = clone(FEW).fit(grid, np.zeros(100))
    assert (on_grid.distance(grid) <= 1.0 + 1e-9).all()
    assert 10.0 <= on_grid.distance([[109.0]])[0] + 1e-9 <= 11.0


def test_no_point_is_farther_than_the_radius_from_those_kept() -> None:
    points = np.random.default_rng(4).normal(size=(500, 3))
    kept = thinned(points, 0.7)
    gaps = np.linalg.norm(points[:, None] - kept, axis=2)
    assert gaps.min(axis=1).max() <= 0.7
    assert len(kept) < 300
    between = np.linalg.norm(kept[:, None] - kept, axis=2) + np.eye(len(kept))
    assert between.min() > 0.7


def test_many_rows_are_predicted_as_few_are(fitted, monkeypatch) -> None:
    features = np.random.default_rng(6).normal(size=(1000, 3))
    together = fitted.predict(features)
    monkeypatch.setattr(residual, "ROWS_AT_ONCE", 300)
    assert fitted.predict(features) == pytest.approx(together, rel=1e-9)


def test_a_known_distance_gives_the_same_prediction(fitted) -> None:
    features = np.random.default_rng(2).normal(size=(50, 3))
    known = fitted.predict(features, distance=fitted.distance(features))
    assert (known == fitted.predict(features)).all()


def test_one_training_point_is_enough() -> None:
    lone = clone(FEW).fit([[1.0, 2.0]], [0.3])
    assert lone.gap_ == 1.0
    assert np.isfinite(lone.predict([[1.0, 2.0], [9.0, 9.0]])).all()


def test_equal_training_points_have_no_gap() -> None:
    same = clone(FEW).fit(np.ones((50, 2)), np.full(50, 0.3))
    assert same.predict(np.ones((1, 2))) == pytest.approx([0.3], abs=0.01)


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError):
        FadingRegressor().distance([[1.0]])


def test_the_correction_is_never_larger_than_what_was_learned(fitted) -> None:
    random = np.random.default_rng(5)
    points = random.normal(size=(2000, 3)) * 10 ** random.uniform(-3, 6, (2000, 1))
    assert (np.abs(fitted.predict(points)) <= np.abs(fitted.whole(points))).all()


def test_two_fits_are_equal_to_the_last_bit() -> None:
    random = np.random.default_rng(3)
    features, target = random.normal(size=(500, 4)), random.normal(size=500)
    query = random.normal(size=(100, 4))
    first, second = (clone(FEW).fit(features, target).predict(query) for _ in range(2))
    assert first.tobytes() == second.tobytes()
