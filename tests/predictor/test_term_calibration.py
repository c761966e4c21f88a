"""Factors of physical terms: learnt from runs that tell of them, shrunk where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.term_calibration import TermCalibration

SPREAD = (0.5, 0.5)
RNG = np.random.default_rng(0)
TERMS = RNG.uniform(0.1, 2.0, (40, 2))


def test_many_runs_find_the_factor_of_each_term() -> None:
    measured = TERMS @ np.array([1.5, 0.7])
    fit = TermCalibration.fit(TERMS, measured, SPREAD)
    assert np.exp(fit.log_factor) == pytest.approx([1.5, 0.7], rel=0.02)
    predicted, spread = fit.predict(TERMS)
    assert predicted == pytest.approx(measured, rel=0.01)
    assert np.all(spread < 0.05)


def test_without_runs_the_physics_stands_with_all_of_its_spread() -> None:
    fit = TermCalibration.fit(np.empty((0, 2)), np.empty(0), SPREAD)
    predicted, spread = fit.predict(np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert predicted.tolist() == [1.0, 2.0]
    assert spread[0] >= SPREAD[0] > spread[1]


def test_a_run_moves_the_term_that_it_consists_of() -> None:
    fit = TermCalibration.fit(np.array([[1.0, 0.01]]), np.array([2.0]), SPREAD)
    assert np.exp(fit.log_factor) == pytest.approx([2.0, 1.0], rel=0.1)


def test_a_group_has_a_factor_of_its_own() -> None:
    groups = ["one", "other"] * 20
    measured = TERMS.sum(axis=1) * np.where(np.array(groups) == "one", 3.0, 1.0)
    fit = TermCalibration.fit(TERMS, measured, SPREAD, groups)
    predicted, spread = fit.predict(np.array([[1.0, 1.0]] * 3), ["one", "other", "new"])
    assert predicted[:2] == pytest.approx([6.0, 2.0], rel=0.1)
    assert spread[2] > 5 * spread[0]


@given(factor=st.floats(0.2, 5.0), runs=st.integers(1, 10))
def test_more_runs_of_one_factor_come_nearer_to_it(factor, runs) -> None:
    terms = np.ones((runs + 1, 1))
    measured = np.full(runs + 1, factor)
    fewer = TermCalibration.fit(terms[:-1], measured[:-1], (0.5,))
    more = TermCalibration.fit(terms, measured, (0.5,))
    off = [abs(float(np.log(one.predict(terms[:1])[0][0] / factor))) for one in (fewer, more)]
    assert off[1] <= off[0] + 1e-6
    assert off[0] < abs(np.log(factor)) + 1e-6
