"""Residuals are learned where rows are alike and fade elsewhere; constants keep to their prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from advisor.predictor.log_fit import fit_constants
from advisor.predictor.smooth_effects import SAME, Effect, SmoothEffects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.predictor.arrays import FloatArray

EFFECTS = (Effect(0.2, {"device": SAME}), Effect(0.1, {"size": 1.0}))


def rows(device: list[float], size: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"device": device, "size": size})


def test_a_row_of_the_same_device_learns_its_residual_and_another_does_not() -> None:
    known = rows([0.0] * 20, [50.0] * 20)
    smooth = SmoothEffects(EFFECTS, noise=0.05).fit(known, np.full(20, 0.15))
    mean, spread = smooth.predict(rows([0.0, 1.0], [0.0, 0.0]))
    assert mean[0] == pytest.approx(0.12, abs=0.03)
    assert mean[1] == pytest.approx(0.0, abs=1e-6)
    assert spread[0] < spread[1] == pytest.approx(np.sqrt(0.2**2 + 0.1**2 + 0.05**2))


def test_an_effect_of_size_fades_with_the_distance() -> None:
    known = rows([0.0] * 20, [0.0] * 20)
    smooth = SmoothEffects(EFFECTS, noise=0.05).fit(known, np.full(20, 0.2))
    mean, _ = smooth.predict(rows([1.0] * 4, [0.0, 1.0, 2.0, 9.0]))
    assert np.all(np.diff(mean) < 0)
    assert mean[-1] == pytest.approx(0.0, abs=1e-6)


def test_a_disturbed_row_counts_as_the_largest_that_is_believed() -> None:
    known = rows([0.0], [0.0])
    wild = SmoothEffects(EFFECTS, noise=0.05, largest=0.6).fit(known, np.array([9.0]))
    large = SmoothEffects(EFFECTS, noise=0.05, largest=0.6).fit(known, np.array([0.6]))
    asked = rows([0.0], [0.5])
    assert wild.predict(asked)[0] == pytest.approx(large.predict(asked)[0])


def line(x: FloatArray, measured: FloatArray, constants: Mapping[str, float]) -> FloatArray:
    return np.asarray(np.log(measured / (constants["a"] + constants["b"] * x)) / 0.05)


def test_constants_are_found_although_one_series_was_disturbed() -> None:
    x = np.linspace(1, 100, 60)
    measured = 3.0 + 0.5 * x
    measured[:6] *= 4
    found = fit_constants(lambda c: line(x, measured, c), {"a": (1.0, 1.0), "b": (1.0, 1.0)})
    assert found["b"] == pytest.approx(0.5, rel=0.1)


def test_a_constant_that_the_data_leave_open_keeps_its_expected_value() -> None:
    x = np.zeros(20)
    found = fit_constants(
        lambda c: line(x, np.full(20, 3.0), c), {"a": (1.0, 2.0), "b": (0.7, 0.5)}
    )
    assert found["a"] == pytest.approx(3.0, rel=0.02)
    assert found["b"] == pytest.approx(0.7, rel=1e-3)
