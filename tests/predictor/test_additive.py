"""Additive costs: what the runs say, what the data sheet adds, and how sure it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from advisor.core.errors import PredictionError
from advisor.predictor.additive import AdditiveCostRegressor

COSTS = np.array([0.02, 1.7, 0.9])


@parametrize_with_checks([AdditiveCostRegressor()])
def test_scikit_learn_accepts_it(estimator, check) -> None:
    check(estimator)


def works(rows: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.column_stack([np.ones(rows), random.uniform(0.1, 5, (rows, 2))])


def test_it_finds_the_costs_that_made_the_times() -> None:
    work = works(12)
    fitted = AdditiveCostRegressor().fit(work, work @ COSTS)
    assert fitted.coef_ == pytest.approx(COSTS)
    assert fitted.predict(works(5, 1)) == pytest.approx(works(5, 1) @ COSTS)


def test_no_work_earns_time_back() -> None:
    work = works(30)
    time = work @ COSTS * np.exp(np.random.default_rng(1).normal(0, 0.5, 30))
    fitted = AdditiveCostRegressor().fit(work, time)
    assert (fitted.coef_ >= 0).all()


def test_every_run_counts_by_its_relative_error() -> None:
    # One cost, times 1 and 100 that are off by the same factor: half-way in relative terms.
    fitted = AdditiveCostRegressor().fit([[1.0], [100.0]], [1.0, 200.0])
    assert fitted.coef_ == pytest.approx([(1 + 0.5) / (1 + 0.25)])


def test_the_prior_decides_what_the_runs_leave_open() -> None:
    # Both columns grow together: any split of the time fits, the data sheet knows which.
    size = np.linspace(1, 4, 8)
    together = np.column_stack([size, size])
    time = together @ np.array([1.7, 0.3])
    prior = (1.7, np.nan)
    fitted = AdditiveCostRegressor(prior=prior).fit(together, time)
    assert fitted.coef_ == pytest.approx([1.7, 0.3])
    assert fitted.predict([[8.0, 1.0]]) == pytest.approx([8 * 1.7 + 0.3])


def test_runs_overrule_a_prior_that_is_wrong() -> None:
    work = works(400)
    time = work @ COSTS
    wrong = AdditiveCostRegressor(prior=(np.nan, 17.0, np.nan)).fit(work, time)
    assert wrong.coef_ == pytest.approx(COSTS, rel=0.15, abs=0.02)
    firm = AdditiveCostRegressor(prior=(np.nan, 17.0, np.nan), strength=1e9).fit(work, time)
    assert firm.coef_[1] == pytest.approx(17.0, rel=1e-3)


def test_the_interval_covers_what_it_promises() -> None:
    inside = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        work, asked = works(30, seed), works(20, 1000 + seed)
        time = work @ COSTS * np.exp(random.normal(0, 0.1, 30))
        low, high = AdditiveCostRegressor().fit(work, time).predict_interval(asked)
        true = asked @ COSTS * np.exp(random.normal(0, 0.1, 20))
        inside.append(((low <= true) & (true <= high)).mean())
    assert np.mean(inside) == pytest.approx(0.91, abs=0.03)


def test_it_is_less_sure_of_work_that_no_run_resembles() -> None:
    size = np.linspace(1, 4, 8)
    work = np.column_stack([size, size * np.linspace(0.99, 1.01, 8)])
    noise = np.exp(np.random.default_rng(0).normal(0, 0.03, 8))
    fitted = AdditiveCostRegressor(prior=(1.0, 1.0)).fit(work, work.sum(axis=1) * noise)
    alike, other = fitted.log_sigma([[2.0, 2.0], [8.0, 0.1]])
    assert other > 1.2 * alike


def test_runs_of_one_group_are_held_out_together() -> None:
    # Every network is measured four times: held out alone, its twins would give it away.
    random = np.random.default_rng(3)
    work = np.repeat(works(8), 4, axis=0)
    time = work @ COSTS * np.repeat(np.exp(random.normal(0, 0.3, 8)), 4)
    network = np.repeat(np.arange(8), 4)
    asked = works(3, 9)
    alone = AdditiveCostRegressor().fit(work, time).log_sigma(asked)
    together = AdditiveCostRegressor().fit(work, time, network).log_sigma(asked)
    assert (together > alone).all()


def test_one_network_alone_has_no_interval() -> None:
    fitted = AdditiveCostRegressor().fit([[1.0], [2.0]], [1.0, 2.0], ["a", "a"])
    assert fitted.predict([[3.0]]) == pytest.approx([3.0])
    with pytest.raises(PredictionError, match="two groups"):
        fitted.log_sigma([[1.0]])


@pytest.mark.parametrize(
    ("work", "time", "prior", "says"),
    [
        ([[1.0], [2.0]], [0.0, 1.0], None, "positive"),
        ([[1.0], [2.0]], [-1.0, 1.0], None, "positive"),
        ([[-1.0], [2.0]], [1.0, 1.0], None, "Negative"),
        ([[1.0], [np.nan]], [1.0, 1.0], None, "NaN"),
        ([[1.0], [np.inf]], [1.0, 1.0], None, "infinity"),
        ([[1.0], [2.0]], [1.0, 1.0], (1.0, 1.0), "2 costs for 1 columns"),
    ],
)
def test_what_cannot_be_a_run_is_refused(work, time, prior, says) -> None:
    with pytest.raises(ValueError, match=says):
        AdditiveCostRegressor(prior=prior).fit(work, time)


@given(k=st.floats(1e-6, 1e6), unit=st.floats(1e-6, 1e6))
def test_other_units_of_time_and_work_change_nothing(k, unit) -> None:
    work = works(10)
    time = work @ COSTS * np.exp(np.random.default_rng(0).normal(0, 0.1, 10))
    plain = AdditiveCostRegressor(prior=(np.nan, 1.7, np.nan)).fit(work, time)
    scaled = work * np.array([1.0, unit, 1.0])
    other = AdditiveCostRegressor(prior=(np.nan, 1.7 * k / unit, np.nan)).fit(scaled, time * k)
    assert other.predict(scaled) == pytest.approx(k * plain.predict(work))
    assert other.log_sigma(scaled) == pytest.approx(plain.log_sigma(work), rel=1e-5)
