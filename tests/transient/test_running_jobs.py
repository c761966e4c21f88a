"""Jobs that run already: their machines are not new, and nothing is started for them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spot_jobs import H, lifetimes, spot_job

from advisor.core.errors import InvalidInputError
from advisor.transient import POLICIES, Draws
from advisor.transient.lifetime import Exponential, Weibull

AGES = np.array([0.1, 1.0, 3.0, 10.0]) * H
RUNNING = sorted(set(POLICIES) - {"zones", "price_ceiling", "on_demand"})


@pytest.mark.parametrize("life", lifetimes())
@pytest.mark.parametrize("age_h", [0.5, 5.0])
@pytest.mark.parametrize("times", [1.0, 7.0])
def test_what_is_left_of_a_lifetime_is_the_conditional_one(
    life: Exponential, age_h: float, times: float
) -> None:
    old = life.aged(age_h * H)
    expected = life.survival(age_h * H + AGES, times) / life.survival(age_h * H, times)
    assert old.survival(AGES, times) == pytest.approx(expected)
    assert old.hazard(AGES) == pytest.approx(life.hazard(age_h * H + AGES))
    assert old.age_at(old.cumulative_hazard(AGES)) == pytest.approx(AGES)
    grid = np.linspace(0, 10 * H, 20_001)
    area = np.trapezoid(old.survival(grid, times), grid)
    assert float(old.mean_until(10 * H, times)) == pytest.approx(area, rel=1e-3)


def test_a_machine_that_never_ages_is_as_good_as_new() -> None:
    life = Exponential(rate_per_s=1e-5)
    assert life.aged(0.0) is life
    assert life.aged(5 * H).survival(AGES) == pytest.approx(life.survival(AGES))


def test_what_is_left_ends_at_the_cap_of_the_market() -> None:
    old = Weibull(shape=0.5, scale_s=60 * H, cap_s=24 * H).aged(20 * H)
    assert old.survival(4 * H) == 0
    assert old.survival(3.9 * H) > 0
    assert float(old.age_of_draws(np.array([99.0]))[0]) == 4 * H


@pytest.mark.parametrize("age_s", [-1.0, math.nan, 24 * H, math.inf])
def test_an_age_that_no_machine_has_is_refused(age_s: float) -> None:
    with pytest.raises(InvalidInputError, match="age of the machines"):
        spot_job(lifetime=Exponential(rate_per_s=1e-5, cap_s=24 * H), running_s=age_s)


@pytest.mark.parametrize("name", RUNNING)
def test_a_job_that_runs_needs_no_start(name: str) -> None:
    never = Exponential(rate_per_s=0.0)
    begins, runs = (
        spot_job(lifetime=never, deadline_s=40 * H, running_s=age) for age in (0.0, 3 * H)
    )
    first, later = (POLICIES[name]().simulate(job, 10, Draws(3)) for job in (begins, runs))
    over = begins.overheads
    assert first.finish_s - later.finish_s == pytest.approx(over.start_s + over.load_s)
    assert later.paid_s == pytest.approx(later.finish_s * (8 + (name == "replace_warm")))


@pytest.mark.parametrize("name", RUNNING)
def test_machines_that_lived_through_the_worst_finish_sooner(name: str) -> None:
    job = spot_job(lifetime=Weibull(shape=0.4, scale_s=60 * H), deadline_s=60 * H)
    policy = POLICIES[name]()
    fresh = policy.simulate(replace(job, running_s=1e-3), 20, Draws(3000)).finish_s.mean()
    old = policy.simulate(replace(job, running_s=12 * H), 20, Draws(3000)).finish_s.mean()
    assert old < fresh


def test_policies_that_plan_from_the_start_say_so() -> None:
    job = spot_job(running_s=H)
    for name in ("zones", "price_ceiling"):
        policy = POLICIES[name]()
        reason = policy.applies(job, 10)
        assert reason
    assert "runs already" in POLICIES["zones"]().applies(
        spot_job(running_s=H, overheads=replace(job.overheads, wait_s=H)), 10
    )


@settings(max_examples=15)
@given(st.floats(1.05, 3.0), st.floats(0.5, 100), st.floats(0.3, 1.5), st.floats(0.01, 20))
def test_uniform_progress_of_a_running_job_never_misses_a_feasible_deadline(
    slack: float, scale_h: float, shape: float, age_h: float
) -> None:
    job = spot_job(lifetime=Weibull(shape=shape, scale_s=scale_h * H), running_s=age_h * H)
    needed = job.uninterrupted_s + 20 * job.overheads.checkpoint_s
    runs = POLICIES["uniform_progress"]().simulate(
        replace(job, deadline_s=needed * slack), 20, Draws(300)
    )
    assert (runs.finish_s <= needed * slack + 1e-6).all()
