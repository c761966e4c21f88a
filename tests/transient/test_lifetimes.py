"""Lifetimes: laws of survival functions, samples against them, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from advisor.core.errors import InvalidInputError
from advisor.transient.lifetime import Exponential, Lifetime, Weibull
from advisor.transient.piecewise import PiecewiseHazard

H = 3600.0
rates = st.floats(1e-8, 1e-3)
exponentials = st.builds(lambda rate: Exponential(rate_per_s=rate), rates)
weibulls = st.builds(
    lambda shape, scale: Weibull(shape=shape, scale_s=scale), st.floats(0.3, 3), st.floats(1e3, 1e6)
)
piecewise = st.lists(rates, min_size=1, max_size=6).map(
    lambda found: PiecewiseHazard(
        edges_s=tuple(H * k for k in range(len(found))), rates_per_s=tuple(found)
    )
)
plain = st.one_of(exponentials, weibulls, piecewise)
lifetimes = st.one_of(plain, st.builds(Lifetime.capped, plain, st.floats(10, 1e6)))
ages = st.floats(0, 1e6)


@given(lifetimes, ages, ages, st.floats(0.1, 50))
def test_survival_falls_from_one_and_lies_between_zero_and_one(
    life: Lifetime, first: float, second: float, times: float
) -> None:
    early, late = sorted((first, second))
    assert life.survival(0.0) == 1
    assert 0 <= life.survival(late, times) <= life.survival(early, times) <= 1


@given(lifetimes, ages, st.floats(0.1, 50))
def test_the_mean_until_an_age_is_the_area_under_survival(
    life: Lifetime, age: float, times: float
) -> None:
    edges = [age * k / 400 for k in range(401)]
    alive = life.survival(np.array(edges), times)
    # Survival falls, so the area lies between the two staircases.
    width = age / 400
    area = float(life.mean_until(age, times))
    assert alive[1:].sum() * width - 1e-6 <= area <= alive[:-1].sum() * width + 1e-6
    assert area <= age + 1e-9


@given(plain, st.floats(0.001, 20))
def test_age_at_inverts_the_cumulative_hazard(life: Lifetime, cumulative: float) -> None:
    assert life.cumulative_hazard(life.age_at(cumulative)) == pytest.approx(cumulative, rel=1e-6)


@given(lifetimes, st.floats(0, 0.99))
def test_a_quantile_splits_the_machines(life: Lifetime, share: float) -> None:
    age = float(life.quantile(share))
    before = 1 - float(life.survival(age * (1 - 1e-9)))
    assert before <= share + 1e-6


@given(st.one_of(exponentials, piecewise), ages)
def test_the_hazard_is_the_slope_of_the_cumulative_hazard(life: Lifetime, age: float) -> None:
    step = 1e-3
    slope = (life.cumulative_hazard(age + step) - life.cumulative_hazard(age)) / step
    if not any(math.isclose(age, H * k, abs_tol=1) for k in range(8)):
        assert slope == pytest.approx(float(life.hazard(age)), rel=0.01, abs=1e-9)


@pytest.mark.parametrize(
    "life",
    [
        Exponential(rate_per_s=1e-4),
        Weibull(shape=0.5, scale_s=9000.0),
        PiecewiseHazard(edges_s=(0.0, H, 2 * H), rates_per_s=(1e-4, 0.0, 3e-5)),
        PiecewiseHazard(edges_s=(0.0, H), rates_per_s=(2e-4, 1e-5), cap_s=24 * H),
    ],
)
def test_samples_have_the_mean_and_the_shares_of_the_lifetime(life: Lifetime) -> None:
    drawn = life.sample(np.random.default_rng(0), 100_000, times=3.0)
    mean = float(life.mean_s(3.0))
    assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / math.sqrt(len(drawn)))
    for age in (600.0, H, 3 * H):
        expected = float(life.survival(age, 3.0))
        assert (drawn > age).mean() == pytest.approx(expected, abs=0.007)


def test_the_mean_of_a_weibull_lifetime_is_that_of_numerical_integration() -> None:
    life = Weibull(shape=0.6, scale_s=5000.0)
    found, _ = quad(lambda t: float(life.survival(t, 2.0)), 0, 30_000, limit=200)
    assert life.mean_until(30_000.0, 2.0) == pytest.approx(found, rel=1e-6)


def test_a_cap_stops_every_machine() -> None:
    life = Exponential(rate_per_s=1e-9, cap_s=24 * H)
    assert life.survival(24 * H - 1) > 0.99
    assert life.survival(24 * H) == 0
    assert life.mean_s() == pytest.approx(24 * H, rel=1e-3)


def test_a_machine_that_is_never_revoked_lives_for_ever() -> None:
    life = Exponential(rate_per_s=0.0)
    assert life.survival(1e12) == 1
    assert life.mean_s() == math.inf
    assert life.sample(np.random.default_rng(0), 3).tolist() == [math.inf] * 3


def test_a_survival_curve_and_a_density_of_the_same_machines_agree() -> None:
    edges = (0.0, H, 3 * H)
    curve = PiecewiseHazard.from_survival(edges, (1.0, 0.7, 0.6))
    density = PiecewiseHazard.from_density(edges, (0.3 / H, 0.1 / (2 * H)))
    times = np.array([100.0, H, 2 * H, 3 * H])
    assert curve.survival(times) == pytest.approx(density.survival(times))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PiecewiseHazard.from_density((0, H), (1.4 / H,)), "integrates to 1.4"),
        (lambda: PiecewiseHazard.from_density((0, H), (-0.1,)), "0 or more"),
        (lambda: PiecewiseHazard.from_survival((0, H), (1.0, 1.1)), "survival rises"),
        (lambda: PiecewiseHazard.from_survival((0, H), (0.9, 0.5)), "start at age 0"),
        (lambda: PiecewiseHazard.from_survival((-5, H), (1.0, 0.5)), "negative"),
        (lambda: PiecewiseHazard.from_survival((0,), (1.0,)), "two points"),
        (lambda: PiecewiseHazard(edges_s=(0.0, 5.0, 5.0), rates_per_s=(1, 1, 1)), "rise from 0"),
        (lambda: PiecewiseHazard(edges_s=(0.0,), rates_per_s=(-1e-3,)), "negative or no number"),
        (lambda: PiecewiseHazard(edges_s=(0.0,), rates_per_s=()), "do not belong together"),
        (lambda: Exponential(rate_per_s=-1.0), "0 or more"),
        (lambda: Exponential(rate_per_s=math.nan), "not possible"),
        (lambda: Weibull(shape=0.0, scale_s=1.0), "positive number"),
        (lambda: Exponential(rate_per_s=1.0, cap_s=0.0), "cap"),
        (lambda: Exponential(rate_per_s=1.0).quantile(1.0), "below 1"),
    ],
)
def test_what_is_no_lifetime_is_refused_with_the_reason(make: object, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        make()  # type: ignore[operator]
