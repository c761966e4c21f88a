"""Policies: the contract over the registry, and known orders between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spot_jobs import OVERHEADS, H, spot_job

from advisor.core.errors import InvalidInputError, PredictionError, UnknownNameError
from advisor.testing.policies import PolicyContract
from advisor.transient import POLICIES, Draws, Overheads, SpotJob, outcome
from advisor.transient.evaluate import compare, evaluate
from advisor.transient.lifetime import Exponential, Weibull
from advisor.transient.policies.price_ceiling import PriceCeiling
from advisor.transient.policies.zones import Zone, Zones
from advisor.transient.renewal import restart_forecast

if TYPE_CHECKING:
    from advisor.transient.policy import Policy

DAYTIME = (2.0, 2.0, 4.0, 2.0, 9.0, 2.0)


def ready(name: str) -> Policy:
    if name == "price_ceiling":
        return PriceCeiling(prices_usd_per_h=DAYTIME, ceiling_usd_per_h=10.0)
    return POLICIES[name]()


def policy_name(policy: Policy) -> str:
    return next(name for name in POLICIES if type(ready(name)) is type(policy))


def mean_s(job: SpotJob, name: str, segments: int = 20, runs: int = 8000) -> float:
    return float(ready(name).simulate(job, segments, Draws(runs)).finish_s.mean())


class TestPolicies(PolicyContract):
    @pytest.fixture(params=list(POLICIES))
    def policy(self, request: pytest.FixtureRequest) -> Policy:
        return ready(request.param)

    @pytest.fixture
    def job(self) -> SpotJob:
        return spot_job(deadline_s=30 * H)

    @pytest.fixture
    def rates(self, policy: Policy, job: SpotJob) -> tuple[float, float]:
        spot, demand = job.usd_per_h, job.on_demand_usd_per_h or job.usd_per_h
        return {
            "on_demand": (demand, demand),
            "uniform_progress": (spot, demand),
            "price_ceiling": (min(DAYTIME), 9.0),
        }.get(policy_name(policy), (spot, spot))


@pytest.mark.parametrize("price", [0.0, -1.0, math.nan, math.inf])
def test_a_price_on_demand_that_is_none_is_refused(price: float) -> None:
    with pytest.raises(InvalidInputError, match="on_demand_usd_per_h"):
        spot_job(on_demand_usd_per_h=price)


def test_one_machine_replaced_is_one_machine_restarted() -> None:
    job = spot_job(machines=1, lifetime=Weibull(shape=0.6, scale_s=20 * H))
    exact = restart_forecast(job, 20)
    runs = ready("replace_cold").simulate(job, 20, Draws(40_000))
    error = runs.finish_s.std() / math.sqrt(40_000)
    assert runs.finish_s.mean() == pytest.approx(exact.mean_s, abs=4 * error)
    assert runs.revocations.mean() == pytest.approx(exact.revocations, rel=0.03)


def test_without_memory_a_group_with_one_replaced_is_a_group_restarted() -> None:
    # Up to a second loss during the replacement, which a restart does not know.
    job = spot_job(lifetime=Exponential(rate_per_s=1 / (60 * H)))
    assert mean_s(job, "replace_cold") == pytest.approx(restart_forecast(job, 20).mean_s, rel=0.01)


def test_under_front_loaded_hazards_survivors_are_worth_keeping() -> None:
    job = spot_job(lifetime=Weibull(shape=0.4, scale_s=100 * H))
    assert mean_s(job, "replace_cold") < mean_s(job, "restart")


def test_a_machine_that_stands_by_saves_time() -> None:
    job = spot_job(lifetime=Exponential(rate_per_s=1 / (20 * H)))
    assert mean_s(job, "replace_warm") < mean_s(job, "replace_cold")


def test_handing_the_chief_over_beats_going_back_to_a_checkpoint() -> None:
    job = spot_job(lifetime=Exponential(rate_per_s=1 / (20 * H)))
    assert mean_s(job, "chief_handover") < mean_s(job, "replace_cold")


def test_one_asynchronous_worker_is_an_alternating_renewal_process() -> None:
    # Up for 1/λ, away for wait, start and load: the share of time it trains.
    job = spot_job(machines=1, work_s=400 * H, lifetime=Exponential(rate_per_s=1 / (5 * H)))
    away = OVERHEADS.wait_s + OVERHEADS.start_s + OVERHEADS.load_s
    share = 5 * H / (5 * H + away)
    hand_over = 400 / 5 * OVERHEADS.hand_over_s
    expected = (400 * H + 20 * OVERHEADS.checkpoint_s + hand_over) / share
    assert mean_s(job, "chief_handover", runs=2000) == pytest.approx(expected, rel=0.01)


def test_machines_that_are_always_revoked_together_go_and_come_together() -> None:
    alone, together = (
        spot_job(lifetime=Exponential(rate_per_s=1 / (20 * H)), common_share=share)
        for share in (0.0, 1.0)
    )
    for name in ("restart", "replace_cold"):
        assert mean_s(together, name) < mean_s(alone, name)
    exact = restart_forecast(together, 20).mean_s
    assert mean_s(together, "elastic") == pytest.approx(exact, rel=0.02)


def all_at_once(wait_s: float = H) -> SpotJob:
    over = Overheads(start_s=80.0, load_s=60.0, checkpoint_s=20.0, warm_s=20.0, wait_s=wait_s)
    return spot_job(overheads=over, common_share=1.0, lifetime=Exponential(rate_per_s=1 / (4 * H)))


def test_no_machine_stands_by_for_a_group_that_is_lost_as_a_whole() -> None:
    job = all_at_once()
    exact = restart_forecast(job, 20).mean_s
    for name in ("replace_warm", "replace_cold", "restart", "elastic"):
        assert mean_s(job, name) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    ("name", "paid_machines"),
    [("restart", 8), ("elastic", 8), ("replace_cold", 8), ("replace_warm", 9)],
)
def test_no_machine_is_paid_while_all_are_gone(name: str, paid_machines: int) -> None:
    job = all_at_once()
    runs = ready(name).simulate(job, 20, Draws(4000))
    up_s = runs.finish_s - job.overheads.wait_s * runs.revocations
    assert runs.revocations.mean() > 1
    assert runs.paid_s == pytest.approx(paid_machines * up_s)


def test_the_bill_of_a_replaced_group_is_that_of_a_restarted_one_where_all_are_lost() -> None:
    job = all_at_once()
    exact = restart_forecast(job, 20).mean_usd
    for name in ("replace_cold", "restart", "elastic"):
        usd = ready(name).simulate(job, 20, Draws(8000)).cost_usd.mean()
        assert usd == pytest.approx(exact, rel=0.02)


def test_a_machine_that_waits_alone_is_the_only_one_not_paid() -> None:
    job = spot_job(overheads=all_at_once().overheads, lifetime=Exponential(rate_per_s=1 / (80 * H)))
    cold = ready("replace_cold").simulate(job, 20, Draws(2000))
    assert cold.paid_s == pytest.approx(8 * cold.finish_s - H * cold.revocations)
    warm = ready("replace_warm").simulate(job, 20, Draws(2000))
    assert warm.paid_s == pytest.approx(9 * warm.finish_s)


def test_a_machine_lost_with_all_while_it_is_waited_for_is_not_deducted_twice() -> None:
    # Nothing is paid twice or deducted twice: what is paid is at least what ran.
    over = Overheads(start_s=0.0, load_s=0.0, checkpoint_s=20.0, warm_s=20.0, wait_s=50 * H)
    life = Exponential(rate_per_s=1 / (8 * H))
    job = spot_job(overheads=over, machines=2, common_share=0.7, lifetime=life)
    runs = ready("replace_cold").simulate(job, 20, Draws(4000))
    assert (runs.paid_s >= runs.useful_s).all()


def test_going_on_with_fewer_is_no_faster_than_losing_nobody() -> None:
    calm = spot_job(lifetime=Exponential(rate_per_s=0.0))
    assert mean_s(spot_job(), "elastic") > mean_s(calm, "elastic")


def test_saturated_servers_make_lost_workers_cheap() -> None:
    free, capped = spot_job(), spot_job(server_cap=3.0)
    slow_free = mean_s(free, "elastic") / free.work_s
    assert mean_s(capped, "elastic") / capped.work_s < slow_free


@settings(max_examples=25)
@given(
    st.floats(1.05, 3.0),
    st.floats(0.5, 100),
    st.integers(3, 40),
    st.floats(0.3, 1.5),
    st.integers(0, 9),
)
def test_uniform_progress_never_misses_a_feasible_deadline(
    slack: float, scale_h: float, segments: int, shape: float, seed: int
) -> None:
    job = spot_job(lifetime=Weibull(shape=shape, scale_s=scale_h * H))
    needed = job.uninterrupted_s + segments * job.overheads.checkpoint_s
    job = spot_job(lifetime=job.lifetime, deadline_s=needed * slack)
    runs = ready("uniform_progress").simulate(job, segments, Draws(300, seed=seed))
    assert (runs.finish_s <= job.deadline_s + 1e-6).all()


def test_uniform_progress_is_cheaper_than_on_demand_and_dearer_than_waiting() -> None:
    job = spot_job(deadline_s=16 * H, lifetime=Exponential(rate_per_s=1 / (40 * H)))
    cost = {name: outcome(job, ready(name).simulate(job, 20, Draws(4000)))
            for name in ("uniform_progress", "on_demand", "restart")}  # fmt: skip
    uniform = cost["uniform_progress"]
    assert uniform.deadline_probability == 1
    assert cost["restart"].mean_usd <= uniform.mean_usd < cost["on_demand"].mean_usd


def test_an_infeasible_deadline_is_run_on_demand_throughout() -> None:
    job = spot_job(deadline_s=5 * H)
    runs = ready("uniform_progress").simulate(job, 10, Draws(20))
    assert runs.finish_s == pytest.approx(job.uninterrupted_s + 10 * 20)
    assert (runs.revocations == 0).all()


def test_another_zone_saves_the_wait() -> None:
    over = Overheads(start_s=80, load_s=60, checkpoint_s=20, wait_s=4 * H)
    job = spot_job(overheads=over, lifetime=Exponential(rate_per_s=1 / (20 * H)))
    assert mean_s(job, "zones") < mean_s(job, "restart") - 600


def test_the_cheapest_zone_is_used_first() -> None:
    never = Exponential(rate_per_s=0.0)
    zones = (Zone(never, 5.0, 0.0), Zone(never, 2.0, 0.0))
    job = spot_job()
    runs = Zones(zones).simulate(job, 10, Draws(5))
    assert runs.cost_usd == pytest.approx(runs.paid_s / H * 2.0)


def test_above_the_ceiling_nothing_runs_and_nothing_is_paid() -> None:
    job = spot_job(work_s=3 * H, lifetime=Exponential(rate_per_s=0.0), overheads=Overheads())
    low = PriceCeiling(prices_usd_per_h=DAYTIME, ceiling_usd_per_h=2.0)
    runs = low.simulate(job, 30, Draws(3000))
    assert runs.cost_usd == pytest.approx(runs.paid_s / H * 2.0)
    high = PriceCeiling(prices_usd_per_h=DAYTIME, ceiling_usd_per_h=9.0)
    assert high.simulate(job, 30, Draws(3000)).cost_usd.mean() > runs.cost_usd.mean()
    assert runs.finish_s.mean() > 3.5 * H


def test_what_does_not_apply_says_why() -> None:
    job = spot_job(on_demand_usd_per_h=None)
    reasons = {one.policy: one.reason for one in compare(job) if one.outcome is None}
    assert reasons["on_demand"] == "the machine cannot be had on demand"
    assert reasons["price_ceiling"] == "there is no price history"
    assert evaluate(spot_job(), "uniform_progress").reason == "there is no deadline"
    single = evaluate(spot_job(machines=1), "elastic")
    assert "there is one machine" in single.reason
    with pytest.raises(PredictionError, match="cannot be had on demand"):
        ready("on_demand").simulate(job, 5, Draws(5))
    with pytest.raises(UnknownNameError, match="Did you mean restart"):
        evaluate(job, "restrat")


def test_a_comparison_is_sorted_by_bill_and_saves_against_on_demand() -> None:
    found = [one.outcome for one in compare(spot_job(deadline_s=30 * H)) if one.outcome]
    bills = [one.mean_usd for one in found]
    assert bills == sorted(bills)
    assert len(found) >= 7
    assert found[0].saving is not None
    low, mean, high = found[0].saving
    assert low <= mean <= high
    assert 0.4 < mean < 0.8


def stalled_job() -> SpotJob:
    # 256 machines lose one every 2 min; to load takes 20 min.
    over = Overheads(start_s=80.0, load_s=1200.0, checkpoint_s=20.0, warm_s=1100.0, wait_s=30.0)
    return spot_job(
        machines=256, lifetime=Exponential(rate_per_s=1 / (10 * H)), overheads=over, work_s=4 * H
    )


def test_a_group_that_never_reaches_a_checkpoint_leaves_other_policies_alone() -> None:
    draws = Draws(4)
    found = {one.policy: one for one in compare(stalled_job(), draws=draws)}
    for name in ("on_demand", "chief_handover"):
        assert found[name].outcome is not None
        assert evaluate(stalled_job(), name, draws=draws).outcome is not None
    for name in ("restart", "zones", "replace_cold", "replace_warm"):
        assert found[name].outcome is None
        assert "the job does not finish" in found[name].reason
    with pytest.raises(PredictionError, match="256 machines live for"):
        ready("restart").simulate(stalled_job(), 20, draws)


def test_a_policy_that_does_not_finish_is_a_reason_in_a_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("advisor.transient.simulate.MOST_EVENTS", 3)
    found = compare(spot_job(work_s=100 * H), ["restart", "on_demand"], draws=Draws(50))
    assert [one.policy for one in found] == ["on_demand", "restart"]
    assert "not finished after 3 revocations" in found[1].reason


def test_old_machines_let_a_group_ahead_that_would_never_start_afresh() -> None:
    life = Weibull(shape=0.2, scale_s=50 * H)
    over = Overheads(start_s=80.0, load_s=600.0, checkpoint_s=20.0)
    job = spot_job(machines=24, lifetime=life, overheads=over, work_s=20 * H)
    assert "does not finish" in ready("restart").applies(job, 40)
    assert ready("replace_cold").applies(job, 40) == ""
    assert (ready("replace_cold").simulate(job, 40, Draws(20)).finish_s > job.work_s).all()


def test_prices_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="not positive"):
        PriceCeiling(prices_usd_per_h=(1.0, -1.0), ceiling_usd_per_h=2.0)
    with pytest.raises(InvalidInputError, match="price of a zone"):
        Zone(Exponential(rate_per_s=0.0), 0.0, 0.0)
    dear = PriceCeiling(prices_usd_per_h=(5.0,), ceiling_usd_per_h=2.0)
    assert dear.applies(spot_job(), 10) == "the price was never at or below the ceiling"


def test_a_quantity_of_every_run_is_spread() -> None:
    job = spot_job(work_log_sigma=0.2)
    finish = ready("on_demand").simulate(job, 1, Draws(20_000)).finish_s
    assert np.log(finish).std() == pytest.approx(0.2, rel=0.05)


def test_whole_numbers_are_as_good_as_fractions() -> None:
    whole = Overheads(start_s=120, load_s=60, checkpoint_s=30, warm_s=20, wait_s=600)
    parts = Overheads(start_s=120.0, load_s=60.0, checkpoint_s=30.0, warm_s=20.0, wait_s=600.0)
    for name in POLICIES:
        first, second = (
            ready(name).simulate(spot_job(overheads=over, deadline_s=30 * 3600), 10, Draws(300))
            for over in (whole, parts)
        )
        assert first.finish_s == pytest.approx(second.finish_s)
        assert first.cost_usd == pytest.approx(second.cost_usd)
