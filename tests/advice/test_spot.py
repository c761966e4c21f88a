"""A plan on spot machines: policies, on which data, other numbers of machines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine
from advisor.advice.accuracy import accuracy_caveat
from advisor.advice.spot import spot_advice
from advisor.advice.spot_job import SpotOptions, known_of, spot_job, spot_row
from advisor.core.errors import InvalidInputError
from advisor.domain.spot import PolicyOutcome, SpotAdvice
from advisor.search.constraints import Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate
from advisor.transient import NO_DATA, POLICIES
from advisor.transient.history import lifetime_of_history, read_history

LIMITS = Constraints(deadline_h=60.0)
RUNS = 600


@pytest.fixture(scope="module")
def table(engine: Engine) -> Evaluated:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=10e9, global_batch=1024)
    options = SearchOptions(most_accelerators=64)
    return evaluate(workload, engine.catalog, engine.predictor, options)


def row_of(table: Evaluated, **wanted: object) -> int:
    mask = np.ones(len(table.plans), bool)
    for name, value in wanted.items():
        mask &= (table.plans[name] == value).to_numpy()
    return int(np.flatnonzero(mask)[0])


@pytest.fixture(scope="module")
def known_row(table: Evaluated) -> int:
    return row_of(table, instance_type="p4d.24xlarge", market="spot", machines=4)


@pytest.fixture(scope="module")
def unknown_row(table: Evaluated) -> int:
    return row_of(table, cloud="gcp", accelerator="H100", market="spot", machines=2)


@pytest.fixture(scope="module")
def advice(table: Evaluated, engine: Engine, known_row: int) -> SpotAdvice:
    return spot_advice(table, known_row, engine.catalog, LIMITS, runs=RUNS)


def by_name(advice: SpotAdvice) -> dict[str, PolicyOutcome]:
    return {one.policy: one for one in advice.policies}


def test_every_policy_is_there_cheapest_first_with_a_result_or_a_reason(
    advice: SpotAdvice,
) -> None:
    assert {one.policy for one in advice.policies} == set(POLICIES)
    bills = [one.cost_usd.value for one in advice.policies if one.cost_usd is not None]
    assert bills == sorted(bills)
    assert len(bills) >= 6
    for one in advice.policies:
        assert (one.cost_usd is None) == bool(one.reason)
    assert by_name(advice)["price_ceiling"].reason == "there is no price history"


def test_on_demand_saves_nothing_against_itself_and_spot_saves_an_interval(
    advice: SpotAdvice,
) -> None:
    demand, restart = (by_name(advice)[name] for name in ("on_demand", "restart"))
    assert demand.saving_share == pytest.approx(0.0, abs=1e-9)
    assert demand.interruptions == 0
    assert restart.saving_share_low < restart.saving_share < restart.saving_share_high
    price = advice.usd_per_h / advice.on_demand_usd_per_h
    assert restart.saving_share < 1 - price


def test_a_simulated_restart_is_what_the_table_says(
    table: Evaluated, engine: Engine, known_row: int
) -> None:
    advice = spot_advice(table, known_row, engine.catalog, LIMITS, runs=8000)
    plan, restart = table.plans.iloc[known_row], by_name(advice)["restart"]
    # The table's hours are a median of the work, those of the policy a mean.
    mean = plan["training_h"] * math.exp(plan["log_sigma"] ** 2 / 2) + plan["startup_h"]
    assert restart.hours.value == pytest.approx(mean + plan["interruption_h"], rel=0.03)
    assert restart.interruptions == pytest.approx(plan["revocations"], abs=0.004)


def test_the_data_behind_it_is_named_with_its_year(advice: SpotAdvice) -> None:
    assert advice.data is not None
    assert advice.data.kind == "band"
    assert advice.data.year == 2025
    assert "interrupted in a month" in advice.data.words


def test_without_data_there_is_a_bound_and_no_guess(
    table: Evaluated, engine: Engine, unknown_row: int
) -> None:
    assert table.plans["interruption_basis"].iloc[unknown_row] == NO_DATA
    advice = spot_advice(table, unknown_row, engine.catalog, LIMITS)
    assert advice.data is None
    assert advice.policies == ()
    assert advice.best == ""
    plan = table.plans.iloc[unknown_row]
    assert advice.least_h == pytest.approx(plan["hours"])
    assert all(one.bound and one.hours_90 is None for one in advice.other_counts)


def test_the_users_own_machines_go_before_what_is_published(
    table: Evaluated, engine: Engine, unknown_row: int
) -> None:
    rows = [f"2026-11-{day:02d} 00:00,2026-11-{day:02d} {hour:02d}:00,1"
            for day in range(1, 11) for hour in (1, 2, 9)]  # fmt: skip
    own = lifetime_of_history(read_history("start,stop,revoked\n" + "\n".join(rows)))
    advice = spot_advice(
        table, unknown_row, engine.catalog, LIMITS, SpotOptions(history=own), runs=RUNS
    )
    assert advice.data is not None
    assert (advice.data.kind, advice.data.n) == ("history", 30)
    assert by_name(advice)["restart"].interruptions > 1


def test_the_best_is_sure_enough_and_free_of_unpriced_losses(
    table: Evaluated, engine: Engine, known_row: int, advice: SpotAdvice
) -> None:
    best = by_name(advice)[advice.best]
    assert best.deadline_probability >= LIMITS.chance
    assert not POLICIES[advice.best].asynchronous
    hurried = spot_advice(table, known_row, engine.catalog, Constraints(deadline_h=1.0), runs=RUNS)
    able = [one for one in hurried.policies if one.cost_usd and one.policy != "chief_handover"]
    surest = max(one.deadline_probability for one in able)
    assert by_name(hurried)[hurried.best].deadline_probability == surest


def test_more_samples_of_asynchronous_workers_are_priced(
    table: Evaluated, engine: Engine, known_row: int, advice: SpotAdvice
) -> None:
    priced = spot_advice(
        table, known_row, engine.catalog, LIMITS, SpotOptions(samples_factor=1.3), runs=RUNS
    )
    free, dear = (by_name(one)["chief_handover"] for one in (advice, priced))
    assert dear.cost_usd.value == pytest.approx(1.3 * free.cost_usd.value, rel=0.05)
    assert by_name(priced)["restart"].cost_usd == by_name(advice)["restart"].cost_usd
    assert "93.1 %" in free.caveat
    assert "nothing is priced" in free.caveat
    assert "1.30 times the samples" in dear.caveat
    assert advice.caveats == (free.caveat,)
    assert "88.8 % with 8" in accuracy_caveat(8, 1.0)


def test_a_fixed_interval_is_used_and_one_beyond_the_job_refused(
    table: Evaluated, engine: Engine, known_row: int
) -> None:
    half = spot_advice(
        table, known_row, engine.catalog, LIMITS, SpotOptions(interval_s=1800.0), runs=RUNS
    )
    assert by_name(half)["restart"].checkpoint_every_h == pytest.approx(0.5, rel=0.05)
    with pytest.raises(InvalidInputError, match="longer than the job"):
        spot_advice(table, known_row, engine.catalog, LIMITS, SpotOptions(interval_s=1e9))
    with pytest.raises(InvalidInputError, match="checkpoint interval"):
        spot_advice(table, known_row, engine.catalog, LIMITS, SpotOptions(interval_s=-1.0))


def test_a_ceiling_needs_prices_and_then_interrupts(
    table: Evaluated, engine: Engine, known_row: int
) -> None:
    with pytest.raises(InvalidInputError, match="needs a price history"):
        SpotOptions(ceiling_usd_per_h=3.0)
    prices = (8.0,) * 20 + (12.0, 16.0)
    low, high = (
        by_name(
            spot_advice(
                table, known_row, engine.catalog, LIMITS,
                SpotOptions(prices_usd_per_h=prices, ceiling_usd_per_h=ceiling), runs=RUNS,
            )
        )["price_ceiling"]
        for ceiling in (8.0, 16.0)
    )  # fmt: skip
    assert low.interruptions > high.interruptions
    assert low.hours.value > high.hours.value


def test_other_numbers_of_machines_are_those_of_the_table(
    table: Evaluated, advice: SpotAdvice, known_row: int
) -> None:
    counts = [one.machines for one in advice.other_counts]
    assert counts == sorted(counts)
    assert 4 in counts
    assert max(counts) > 4
    own = next(one for one in advice.other_counts if one.machines == 4)
    assert own.hours == table.plans["hours"].iloc[known_row]
    for one in advice.other_counts:
        assert one.hours_90 is not None
        assert one.cost_90_usd is not None
        assert one.hours_90[0] < one.hours < one.hours_90[1]
        assert one.cost_90_usd[0] < one.cost_usd < one.cost_90_usd[1]
    chances = [one.deadline_probability for one in advice.other_counts]
    assert chances == sorted(chances)


def test_a_plan_on_demand_leads_to_its_row_on_spot(table: Evaluated, known_row: int) -> None:
    plan = table.plans.iloc[known_row]
    demand = row_of(table, instance_type="p4d.24xlarge", market="on_demand", machines=4,
                    region=plan["region"])  # fmt: skip
    assert spot_row(table.plans, demand) == known_row
    assert spot_row(table.plans, known_row) == known_row
    lonely = table.plans.iloc[[demand]].reset_index(drop=True)
    assert spot_row(lonely, 0) is None


def test_a_negative_wait_and_too_many_samples_are_refused(
    table: Evaluated, engine: Engine, known_row: int
) -> None:
    known = known_of(table.plans.iloc[known_row], engine.catalog)
    for options in (SpotOptions(wait_s=-1.0), SpotOptions(samples_factor=0.5),
                    SpotOptions(samples_factor=math.nan)):  # fmt: skip
        with pytest.raises(InvalidInputError):
            spot_job(table, known_row, known, LIMITS, options)
