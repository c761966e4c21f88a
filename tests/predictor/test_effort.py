"""What whole efforts take beyond their running steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.effort import PUBLISHED, whole_effort_factor, whole_effort_spread

HOURS = st.floats(1e-3, 1e9)


def named(name: str) -> float:
    return next(np.exp(effort.log_factor) for effort in PUBLISHED if effort.name == name)


def test_palm_states_45_7_percent_and_its_hours_give_30() -> None:
    assert named("PaLM-540B") == pytest.approx(0.457 / 0.30, rel=0.02)


def test_the_steady_hours_follow_from_the_stated_speeds() -> None:
    # FLOPs of the tokens over the stated speed; BLOOM from its seconds per step.
    steady = {
        "OPT-175B": 8 * 175e9 * 180e9 / 147e12 / 3600,
        "BLOOM-176B": 366e9 / (2048 * 2048) * 105 * 384 / 3600,
        "GLM-130B": 6 * 130e9 * 400e9 / (0.325 * 312e12) / 3600,
        "Llama 3 405B": 6 * 405.9e9 * 15.6e12 / (0.41 * 989e12) / 3600,
        "PaLM-540B": 6 * 540e9 * 780e9 / (0.457 * 275e12) / 3600,
        "LLaMA 65B": 1.4e12 / 380 / 3600,
        "GPT-NeoX-20B": 8 * 20.6e9 * 472e9 / 117e12 / 3600,
    }
    assert {effort.name for effort in PUBLISHED} == set(steady)
    for effort in PUBLISHED:
        assert effort.steady_h == pytest.approx(steady[effort.name], rel=0.02)


def test_a_small_job_loses_nothing_and_a_large_one_a_quarter() -> None:
    small, large = whole_effort_factor(np.array([500.0, 3e6]))
    assert small == 1.0
    assert large == pytest.approx(1.23, abs=0.02)


def test_a_family_says_nothing_of_itself() -> None:
    # Without OPT, which lost most, less is expected of others.
    assert whole_effort_factor(np.array(1e7), without="opt") < whole_effort_factor(np.array(1e7))
    assert whole_effort_spread(without="opt") < whole_effort_spread()


@given(first=HOURS, second=HOURS)
def test_a_larger_effort_never_loses_less(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 1 <= whole_effort_factor(np.array(low)) <= whole_effort_factor(np.array(high)) < 2
