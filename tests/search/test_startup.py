"""A cluster starts with its slowest machine; nothing is read off beyond what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.search.startup import cluster_startup

ONE = {"median_s": np.array([60.0]), "p90_s": np.array([180.0])}


def start(machines: float) -> tuple[float, float]:
    found = cluster_startup(**ONE, machines=np.array([machines]))
    return float(found.median_s[0]), float(found.log_sigma[0])


def test_one_machine_starts_as_measured() -> None:
    median_s, log_sigma = start(1)
    assert median_s == pytest.approx(60)
    assert median_s * np.exp(1.6449 * log_sigma) == pytest.approx(180, rel=1e-4)


def test_the_slowest_of_several_is_that_of_simulated_starts() -> None:
    spread = np.log(3) / 1.2816
    draws = 60 * np.exp(spread * np.random.default_rng(0).standard_normal((200_000, 4)))
    assert start(4)[0] == pytest.approx(np.median(draws.max(axis=1)), rel=0.01)


@given(st.integers(1, 2000), st.integers(1, 2000))
def test_more_machines_never_start_sooner_and_never_after_what_was_measured(a: int, b: int) -> None:
    few, many = start(min(a, b))[0], start(max(a, b))[0]
    assert 60 - 1e-9 <= few <= many <= 180 + 1e-9
