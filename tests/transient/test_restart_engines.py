"""Closed form and simulation of a job that restarts: they agree, and known cases come out."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from spot_jobs import H, random_plans, spot_job

from advisor.core.errors import InvalidInputError, PredictionError
from advisor.transient import POLICIES, Draws, Overheads, outcome
from advisor.transient.lifetime import Exponential, Weibull
from advisor.transient.renewal import restart_forecast

RESTART = POLICIES["restart"]()


def test_closed_form_and_simulation_agree_on_fifty_plans() -> None:
    misses = []
    for number, (job, segments) in enumerate(random_plans(50)):
        exact = restart_forecast(job, segments)
        if exact.revocations > 200:
            continue
        runs = RESTART.simulate(job, segments, Draws(20_000, seed=number))
        seen = outcome(job, runs)
        misses.append((seen.mean_s - exact.mean_s) / seen.standard_error_s)
        misses.append((seen.mean_usd - exact.mean_usd) / seen.standard_error_usd)
        assert runs.finish_s.std() == pytest.approx(exact.sd_s, rel=0.05)
    assert len(misses) > 80
    # Three standard errors hold for all but 0.3 % of correct figures: one in a hundred may miss.
    assert max(map(abs, misses)) < 3.9
    assert np.mean(np.abs(misses) < 3) >= 0.97


def test_exponential_lifetimes_have_the_textbook_mean() -> None:
    # Every part takes (1/λ + d) e^{λr} (e^{λ(τ+c)} − 1) with restarts, the first start once more.
    rate, start, load, write, parts, work = 1 / (5 * H), 100.0, 50.0, 30.0, 20, 10 * H
    over = Overheads(start_s=start, load_s=load, checkpoint_s=write)
    job = spot_job(work_s=work, machines=1, lifetime=Exponential(rate_per_s=rate), overheads=over)
    mean = restart_forecast(job, parts).mean_s
    part = work / parts + write

    # By memorylessness: from a working machine, one part; then load or not is the state.
    def part_mean() -> float:
        # A try: mean time min(L, part); on failure start + load-with-failures, then again.
        fails = 1 - math.exp(-rate * part)
        tried = fails / rate
        load_mean = (1 / rate + start) * math.exp(rate * load) - 1 / rate
        return (tried + fails * load_mean) / (1 - fails)

    first = (1 / rate + start) * math.exp(rate * load) - 1 / rate
    assert mean == pytest.approx(first + parts * part_mean(), rel=1e-6)


def test_without_revocations_time_and_bill_are_plain_sums() -> None:
    job = spot_job(lifetime=Exponential(rate_per_s=0.0), deadline_s=11 * H, budget_usd=1.0)
    seen = outcome(job, RESTART.simulate(job, 10, Draws(10)))
    expected = 80 + 60 + 10 * H + 10 * 20
    assert seen.mean_s == pytest.approx(expected)
    assert seen.mean_usd == pytest.approx(expected / H * 8 * 3)
    assert (seen.deadline_probability, seen.budget_probability) == (1.0, 0.0)
    assert seen.revocations == 0
    assert seen.on_demand_usd == pytest.approx((80 + 60 + 10 * H) / H * 8 * 10)
    assert seen.saving is not None
    assert seen.saving[1] == pytest.approx(0.7, abs=0.01)


def test_a_rougher_market_takes_longer_and_wastes_more() -> None:
    calm, rough = (
        outcome(job, RESTART.simulate(job, 20, Draws(4000)))
        for job in (spot_job(), spot_job(lifetime=Exponential(rate_per_s=1 / (8 * H))))
    )
    assert rough.mean_s > calm.mean_s
    assert rough.wasted_share > calm.wasted_share > 0
    assert rough.revocations > 3 * calm.revocations


def test_equal_draws_give_equal_runs_and_other_seeds_others() -> None:
    job = spot_job(hazard_log_sigma=0.5, work_log_sigma=0.1)
    first, again = (RESTART.simulate(job, 10, Draws(500, seed=3)).finish_s for _ in range(2))
    assert (first == again).all()
    assert (first != RESTART.simulate(job, 10, Draws(500, seed=4)).finish_s).any()


def test_common_draws_sharpen_the_comparison_of_two_plans() -> None:
    near = [spot_job(), spot_job(work_s=10.1 * H)]
    first, second = (RESTART.simulate(job, 20, Draws(4000)).finish_s for job in near)
    other = RESTART.simulate(near[1], 20, Draws(4000, seed=1)).finish_s
    assert (second - first).std() < 0.8 * (other - first).std()


def test_an_uncertain_market_spreads_the_finish() -> None:
    sure, unsure = (
        RESTART.simulate(spot_job(hazard_log_sigma=sigma), 20, Draws(20_000)).finish_s
        for sigma in (0.0, 1.0)
    )
    assert np.quantile(unsure, 0.95) > np.quantile(sure, 0.95)


def test_a_hundred_thousand_runs_take_less_than_a_second() -> None:
    job = spot_job(lifetime=Weibull(shape=0.5, scale_s=100 * H))
    begin = time.process_time()
    RESTART.simulate(job, 20, Draws(100_000))
    assert time.process_time() - begin < 1.0


def test_blocks_of_several_intervals_stay_near_the_exact_solution() -> None:
    for job, segments in random_plans(20, seed=7):
        if segments < 40:
            continue
        exact, rough = (restart_forecast(job, segments, blocks=n) for n in (400, 24))
        assert rough.mean_s == pytest.approx(exact.mean_s, rel=0.03)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"work_s": 0.0}, "work_s"),
        ({"work_s": math.nan}, "work_s"),
        ({"machines": 0}, "machines"),
        ({"usd_per_h": -1.0}, "usd_per_h"),
        ({"common_share": 2.0}, "between 0 and 1"),
        ({"hazard_log_sigma": -1.0}, "hazard_log_sigma"),
        ({"deadline_s": 0.0}, "deadline_s"),
    ],
)
def test_a_job_that_cannot_be_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        spot_job(**changes)


def test_an_interval_longer_than_the_job_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="longer than the job of"):
        spot_job().segments(11 * H)
    with pytest.raises(InvalidInputError, match="positive number"):
        spot_job().segments(0.0)


def test_an_interval_that_machines_do_not_outlive_is_refused() -> None:
    job = spot_job(lifetime=Exponential(rate_per_s=1 / H), machines=32)
    assert "the job does not finish" in RESTART.applies(job, job.segments(10 * H))
    with pytest.raises(PredictionError, match="the job does not finish"):
        RESTART.simulate(job, 1, Draws(5))


def test_overheads_and_runs_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="load_s"):
        Overheads(load_s=-1.0)
    with pytest.raises(InvalidInputError, match="simulated runs"):
        Draws(0)
