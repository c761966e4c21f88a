"""The speed of a running job, from its log; what is left of it; price histories."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spot_jobs import H, spot_job

from advisor.core.errors import InvalidInputError, PredictionError
from advisor.transient import Draws
from advisor.transient.lifetime import Exponential, Weibull
from advisor.transient.pace import LEAST_CHANGE, pace_of
from advisor.transient.price_history import read_prices
from advisor.transient.running import remaining, switch_by_s, without_interruption

STEPS = np.arange(0.0, 4001.0, 100.0)


@given(st.floats(1e-3, 1e3), st.integers(3, 300))
def test_the_speed_of_a_steady_log_is_its_slope(step_s: float, points: int) -> None:
    step = np.arange(points) * 10.0
    pace = pace_of(step, 5.0 + step * step_s)
    assert pace.step_s == pytest.approx(step_s)
    assert pace.earlier_step_s is None
    assert pace.log_sigma == pytest.approx(0.01, rel=0.01)


@given(st.floats(1.2, 5.0), st.integers(0, 20), st.booleans())
def test_after_a_change_only_the_new_speed_counts(ratio: float, seed: int, slower: bool) -> None:
    factor = ratio if slower else 1 / ratio
    noise = np.random.default_rng(seed).normal(0, 0.2, len(STEPS) - 1)
    each = np.where(STEPS[1:] > 2000, factor, 1.0) * 100
    time = np.concatenate([[0.0], np.cumsum(each + noise)])
    pace = pace_of(STEPS, time)
    assert pace.step_s == pytest.approx(factor, rel=0.03)
    assert pace.earlier_step_s == pytest.approx(1.0, rel=0.03)
    assert pace.since_s == pytest.approx(2000, abs=5 * 100 * max(factor, 1))


def test_noise_alone_is_no_change() -> None:
    for seed in range(30):
        noise = np.random.default_rng(seed).normal(0, 15, len(STEPS) - 1)
        time = np.concatenate([[0.0], np.cumsum(100 + noise)])
        pace = pace_of(STEPS, time)
        if pace.earlier_step_s is not None:  # a drift of the noise, not a jump
            assert abs(math.log(pace.earlier_step_s / pace.step_s)) > LEAST_CHANGE
        assert pace.step_s == pytest.approx(1.0, abs=0.15)


def test_a_log_that_looks_once_a_minute_is_unsure_of_the_end() -> None:
    time = np.ceil(STEPS * 0.37 / 60) * 60
    pace = pace_of(STEPS, time)
    assert pace.step_s == pytest.approx(0.37, rel=0.02)
    assert pace.log_sigma_over(60.0) > 5 * pace.log_sigma_over(36_000.0)


def test_a_prediction_counts_while_the_log_says_little() -> None:
    time = np.array([0.0, 90.0, 240.0, 290.0])
    short = pace_of(STEPS[:4], time)
    drawn = short.with_prior(2.0, 0.05)
    assert short.step_s < drawn.step_s < 2.0
    assert drawn.log_sigma < short.log_sigma
    long = pace_of(STEPS, STEPS * 1.0).with_prior(2.0, 0.3)
    assert long.step_s == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("points", [0, 1, 2])
def test_too_few_points_tell_no_speed(points: int) -> None:
    with pytest.raises(PredictionError, match="points do not tell a speed"):
        pace_of(STEPS[:points], STEPS[:points])


def rest(**changes: object) -> object:
    given_ = {"running_s": 2 * H, "deadline_s": 20 * H, "work_log_sigma": 0.05}
    return remaining(
        spot_job(**(given_ | changes)), policy="restart", chance=0.9, draws=Draws(4000)
    )


def test_what_is_left_under_every_way_to_go_on() -> None:
    found = rest(lifetime=Weibull(shape=0.7, scale_s=40 * H), deadline_s=12 * H)
    assert found.stay.deadline_probability < found.demand_probability
    assert found.fall_back.deadline_probability >= found.stay.deadline_probability
    assert found.stay.mean_usd < found.fall_back.mean_usd < found.demand_usd


def test_the_moment_to_switch_leaves_just_enough_time_on_demand() -> None:
    job = spot_job(running_s=2 * H, deadline_s=20 * H, work_log_sigma=0.05)
    moment = switch_by_s(job, 0.9)
    over = job.overheads
    move_s = over.checkpoint_s + over.start_s + over.load_s
    work = np.exp(0.05 * np.random.default_rng(0).standard_normal(100_000)) * job.work_s
    assert (moment + move_s + work <= job.deadline_s).mean() == pytest.approx(0.9, abs=0.005)
    assert switch_by_s(spot_job(deadline_s=9 * H), 0.9) < 0


def test_without_a_deadline_or_a_price_on_demand_nothing_is_said_of_a_switch() -> None:
    free = rest(deadline_s=math.inf)
    assert free.switch_by_s is None
    assert free.demand_probability is None
    assert free.fall_back is None
    assert rest(on_demand_usd_per_h=None).demand_usd is None


def test_the_bound_without_interruptions_is_above_every_chance() -> None:
    job = spot_job(running_s=H, deadline_s=11 * H, work_log_sigma=0.1)
    found = remaining(job, policy="restart", chance=0.8, draws=Draws(4000))
    bound = without_interruption(job)
    assert bound is not None
    assert found.stay.deadline_probability < bound < 1
    calm = spot_job(running_s=H, deadline_s=11 * H, lifetime=Exponential(rate_per_s=0.0))
    assert without_interruption(calm) == 1.0


@pytest.mark.parametrize("chance", [0.0, 1.0, -1.0, math.nan])
def test_a_chance_that_is_none_is_refused(chance: float) -> None:
    with pytest.raises(InvalidInputError, match="chance"):
        remaining(spot_job(running_s=H), policy="restart", chance=chance)


def test_prices_hold_until_they_change() -> None:
    text = "time,usd_per_h\n2026-11-02 00:00,1.0\n2026-11-02 02:00,3.0\n2026-11-02 04:00,2.0\n"
    history = read_prices(text)
    assert history.usd_per_h == (1.0, 1.0, 3.0, 3.0)
    assert history.share_at_or_below(1.0) == 0.5
    shuffled = "\n".join([text.splitlines()[0], *reversed(text.splitlines()[1:])])
    assert read_prices(shuffled) == history


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no column time"),
        ("time,usd\n", "no column time"),
        ("time,usd_per_h\n", "fewer than two times"),
        ("time,usd_per_h\n2026-11-02,1\n", "fewer than two times"),
        ("time,usd_per_h\nnever,1\n", "row 2.*are no time and price"),
        ("time,usd_per_h\n2026-11-02,0\n", "row 2.*not positive"),
        ("time,usd_per_h\n2026-11-02,nan\n", "row 2.*not positive"),
        ('time,usd_per_h\n"2026-11-02,1', "are no time and price"),
    ],
)
def test_a_price_history_that_is_none_says_what_is_wrong(text: str, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        read_prices(text)
