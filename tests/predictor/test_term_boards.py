"""Calibration of physical terms by own runs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.boards.calibration_terms import User, errors_by_runs, predict

RNG = np.random.default_rng(0)


def _user(factors, runs=12) -> User:
    terms = RNG.uniform(0.1, 2.0, (runs, len(factors)))
    return User(terms, terms @ np.array(factors), (0.8,) * len(factors), np.arange(runs))


def test_errors_fall_with_every_run_and_by_more_than_half_with_three() -> None:
    errors = errors_by_runs([_user([2.5, 1.5]), _user([0.6, 0.8])], draws=20)
    values = list(errors.values())
    assert list(errors) == [0, 1, 2, 3, 5]
    assert values == sorted(values, reverse=True)
    assert errors[3] < errors[0] / 2


def test_without_runs_a_user_gets_the_physics() -> None:
    user = _user([2.0])
    held = predict(user, np.array([], dtype=int), np.arange(5))
    assert held.predicted == pytest.approx(user.terms[:5].sum(axis=1))
    assert held.log_sigma is not None
    assert np.all(held.log_sigma > 0.8)
