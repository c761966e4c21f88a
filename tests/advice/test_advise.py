"""The answer as a whole, from the trained predictor and the shipped catalog."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine, advise, select
from advisor.advice.advise import advice_of
from advisor.advice.forecast import current_plan
from advisor.advice.picks import PICKS
from advisor.domain import Advice, Plan, Workload
from advisor.search.constraints import Constraints, apply
from advisor.search.finish import hours_at_chance
from advisor.search.interruptions import surest_known
from advisor.search.search import Evaluated, SearchOptions, evaluate

LIMITS = Constraints(
    deadline_h=72.0, budget_usd=5000.0, most_machines=16, clouds=frozenset({"aws", "gcp", "azure"})
)


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )


@pytest.fixture(scope="module")
def table(workload: Workload, engine: Engine) -> Evaluated:
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


@pytest.fixture(scope="module")
def advice(workload: Workload, engine: Engine) -> Advice:
    return advise(workload, engine, limits=LIMITS)


def test_every_pick_and_the_whole_front_satisfy_all_limits(advice: Advice) -> None:
    assert tuple(advice.picks) == PICKS
    for plan in [pick.plan for pick in advice.picks.values()] + list(advice.pareto):
        group = plan.cluster.groups[0]
        assert plan.hours.value <= 72
        assert plan.deadline_probability >= LIMITS.chance - 1e-9
        assert plan.cost_usd.value <= 5000
        assert group.count <= 16
        assert group.cloud in {"aws", "gcp", "azure"}
        assert plan.offer.market in {"on_demand", "spot"}
        assert "implausible" not in plan.offer.flags


def test_no_plan_within_the_limits_is_cheaper_faster_or_beats_the_front(
    advice: Advice, table: Evaluated
) -> None:
    left = table.plans[apply(table.plans, LIMITS)[0]]
    # A lower bound of an unknown finish does not win over what is known.
    known = left.iloc[surest_known(left, np.arange(len(left)))]
    assert advice.picks["cheapest"].plan.cost_usd.value == known["cost_usd"].min()
    assert advice.picks["fastest"].plan.hours.value == known["hours"].min()
    assert all(plan.interruptions is None or plan.interruptions.known for plan in advice.pareto)
    for plan in advice.pareto:
        better = (known["hours"] <= plan.hours.value) & (known["cost_usd"] <= plan.cost_usd.value)
        equal = (known["hours"] == plan.hours.value) & (known["cost_usd"] == plan.cost_usd.value)
        assert (better == equal).all()
    value = advice.picks["best_value"].plan
    better = (known["hours"] < value.hours.value) & (known["cost_usd"] < value.cost_usd.value)
    assert not better.any()


def test_a_plan_agrees_with_itself(advice: Advice, engine: Engine) -> None:
    for plan in advice.pareto:
        group = plan.cluster.groups[0]
        assert plan.bill.total_usd == pytest.approx(plan.cost_usd.value, abs=0.05)  # ten lines
        assert plan.parts.total_s == pytest.approx(plan.step_time_s.value)
        rate = group.count * plan.offer.usd_per_h
        paid = plan.bill.machines_usd + plan.bill.startup_usd + (plan.bill.interruptions_usd or 0.0)
        assert paid == pytest.approx(rate * plan.hours.value, abs=0.015)
        training_h = plan.steps * plan.step_time_s.value / 3600
        assert plan.hours.value > training_h
        assert plan.bill.machines_usd == pytest.approx(rate * training_h, abs=0.005)
        assert plan.layout.devices == plan.cluster.accelerators
        assert plan.memory.used_bytes <= 0.9 * plan.memory.capacity_bytes
        assert 0 < plan.mfu < 1
        assert plan.offer == engine.catalog.offer(
            group.cloud, group.instance_type, group.region, plan.offer.market
        )
        assert plan.offer.source


def test_the_account_adds_up(advice: Advice, table: Evaluated) -> None:
    left = int(apply(table.plans, LIMITS)[0].sum())
    assert sum(advice.removed_by.values()) + left == advice.candidates_considered
    assert set(advice.removed_by) == {
        "memory", "slower_layout", "price_not_trusted", "clouds", "markets", "most_machines",
        "deadline_h", "budget_usd",
    }  # fmt: skip


def test_the_same_input_gives_the_same_advice_byte_for_byte(
    advice: Advice, workload: Workload, engine: Engine
) -> None:
    again = advise(workload, engine, limits=LIMITS)
    assert again.to_json() == advice.to_json()
    read = Advice.from_json(advice.to_json())
    assert read == advice
    assert read.picks["cheapest"].plan.id == advice.picks["cheapest"].plan.id


def test_the_advice_names_what_it_was_made_from(advice: Advice, engine: Engine) -> None:
    assert advice.catalog["hash"] == engine.catalog.hash
    assert advice.catalog["offers"] == len(engine.catalog.offers)
    assert advice.predictor["data_hash"] == engine.predictor.data_hash
    assert advice.predictor["runs"] == engine.predictor.model.runs
    assert advice.predictor["interval_level"] == 0.9
    plan = advice.picks["cheapest"].plan
    assert (plan.catalog_hash, plan.data_hash) == (
        engine.catalog.hash, engine.predictor.data_hash,
    )  # fmt: skip


def test_json_has_no_numbers_that_are_none(advice: Advice) -> None:
    def refuse(name: str) -> float:
        raise AssertionError(name)

    json.loads(advice.to_json(), parse_constant=refuse)


def test_without_limits_there_is_no_chance_to_state(table: Evaluated, engine: Engine) -> None:
    free = advice_of(table, select(table, Constraints()), engine, Constraints())
    assert all(pick.plan.deadline_probability is None for pick in free.picks.values())
    assert "within the deadline" not in free.picks["safest"].reason


def test_a_surer_chance_leaves_fewer_plans(table: Evaluated) -> None:
    rows = [
        set(select(table, Constraints(deadline_h=10.0, chance=chance)).rows)
        for chance in (0.5, 0.8, 0.95)
    ]
    assert rows[2] < rows[1] < rows[0]


def test_an_allowance_for_retries_delays_and_costs(
    workload: Workload, engine: Engine, table: Evaluated
) -> None:
    options = SearchOptions(retry_share=0.5)
    more = evaluate(workload, engine.catalog, engine.predictor, options)
    row = select(more, Constraints()).picks["cheapest"]
    assert more.plans["cost_usd"][row] > 1.4 * table.plans["cost_usd"][row]
    sure = hours_at_chance(more.plans, 0.8)
    assert (sure > hours_at_chance(table.plans, 0.8)).all()


def test_reserved_prices_are_only_for_who_asks(table: Evaluated, engine: Engine) -> None:
    limits = Constraints(markets=frozenset({"reserved_1y"}))
    advice = advice_of(table, select(table, limits), engine, limits)
    assert {pick.plan.offer.market for pick in advice.picks.values()} == {"reserved_1y"}


@pytest.fixture(scope="module")
def today(workload: Workload, engine: Engine) -> Plan:
    return current_plan("4 x p4d.24xlarge", workload, engine, 72.0)


def test_savings_are_the_difference_to_today(table: Evaluated, engine: Engine, today: Plan) -> None:
    advice = advice_of(table, select(table, LIMITS), engine, LIMITS, today)
    assert advice.current == today
    for pick in advice.picks.values():
        assert pick.saving_usd == pytest.approx(today.cost_usd.value - pick.plan.cost_usd.value)
        assert pick.saving_hours == pytest.approx(today.hours.value - pick.plan.hours.value)
    assert advice.picks["cheapest"].saving_usd > 0


def test_today_is_priced_at_its_lowest_trusted_on_demand_price(today: Plan, engine: Engine) -> None:
    offers = engine.catalog.offers
    own = offers[
        (offers["instance_type"] == "p4d.24xlarge")
        & (offers["market"] == "on_demand")
        & offers["rankable"]
    ]
    assert today.offer.market == "on_demand"
    assert today.offer.usd_per_h == own["usd_per_h"].min()
    assert str(today.cluster) == "4 × p4d.24xlarge"
    assert 0 < today.deadline_probability < 1


def test_today_is_not_priced_at_an_offer_that_is_not_trusted(
    workload: Workload, engine: Engine, today: Plan
) -> None:
    catalog = engine.catalog
    offers = catalog.offers.copy()
    own = (
        (offers["instance_type"] == "p4d.24xlarge")
        & (offers["market"] == "on_demand")
        & (offers["usd_per_h"] == today.offer.usd_per_h)
    )
    offers.loc[own, "rankable"] = False
    doubted = replace(catalog, tables=replace(catalog.tables, offers=offers))
    plan = current_plan("4 x p4d.24xlarge", workload, replace(engine, catalog=doubted))
    assert plan.offer.market == "on_demand"
    assert plan.offer.usd_per_h > today.offer.usd_per_h


def test_today_has_the_same_allowance_for_retries_as_the_picks(
    workload: Workload, engine: Engine, today: Plan
) -> None:
    options = SearchOptions(retry_share=0.25, memory_margin=0.5)
    more = current_plan("4 x p4d.24xlarge", workload, engine, options=options)
    assert more.bill.retries_usd == pytest.approx(0.25 * today.bill.machines_usd, abs=0.01)
    assert more.layout == today.layout


def test_today_without_an_on_demand_price_takes_what_there_is(
    workload: Workload, engine: Engine
) -> None:
    offers = engine.catalog.offers.astype({"cloud": str, "instance_type": str, "market": str})
    has = offers.groupby(["cloud", "instance_type"])["market"].agg(set)
    whole = offers.groupby(["cloud", "instance_type"])["accelerators"].min() >= 8
    without = [key for key, markets in has[whole].items() if "on_demand" not in markets]
    assert without
    plan = current_plan(f"8 x {without[0][0]}/{without[0][1]}", workload, engine)
    assert plan.offer.market in has[without[0]]


SANE = {
    # model, amounts, most hours and dollars that the cheapest plan may take, fewest
    "resnet": ("resnet-50", {"epochs": 90, "global_batch": 1024}, (2, 400), (3, 300)),
    "diffusion": ("dit-xl-2", {"epochs": 100, "global_batch": 256}, (5, 2000), (50, 20_000)),
    "mixture": ("mixtral-8x7b", {"tokens": 1e9, "tuning": "lora"}, (0.2, 100), (10, 2000)),
    "adapters": ("llama-2-7b", {"tokens": 1e8, "tuning": "lora"}, (0.05, 50), (0.3, 50)),
    "encoder": ("bert-large", {"steps": 100_000, "global_batch": 256}, (1, 500), (10, 3000)),
}


@pytest.mark.parametrize("name", SANE)
def test_other_kinds_of_networks_get_sane_answers(name: str, engine: Engine) -> None:
    model, amounts, hours, dollars = SANE[name]
    workload = zoo.build_workload(zoo.resolve(model), **amounts)
    plan = advise(workload, engine).picks["cheapest"].plan
    assert hours[0] < plan.hours.value < hours[1]
    assert dollars[0] < plan.cost_usd.value < dollars[1]
    assert 0.02 < plan.mfu < 0.9


def test_qlora_fits_where_full_fine_tuning_does_not(engine: Engine) -> None:
    smallest = {}
    for tuning in ("qlora", "lora", "full"):
        workload = zoo.build_workload(
            zoo.resolve("llama-2-70b"), tokens=1e8, tuning=tuning, global_batch=64
        )
        plans = evaluate(workload, engine.catalog, engine.predictor, SearchOptions()).plans
        memory = (
            plans["accelerators_total"]
            * engine.catalog.accelerators["memory_bytes"]
            .reindex(plans["accelerator"].astype(str))
            .to_numpy()
        )
        smallest[tuning] = float(np.min(memory))
    assert smallest["qlora"] < 100e9  # one device of 48 to 80 GB
    assert smallest["qlora"] < smallest["lora"] < smallest["full"]
    assert smallest["full"] > 14 * 70e9


def test_full_fine_tuning_of_seventy_billion_does_not_run_on_one_machine_of_a100(
    engine: Engine,
) -> None:
    adapters, full = (
        zoo.build_workload(zoo.resolve("llama-2-70b"), tokens=1e8, tuning=tuning, global_batch=64)
        for tuning in ("qlora", "full")
    )
    assert current_plan("1 x p4d.24xlarge", adapters, engine).hours.value > 0
    with pytest.raises(Exception, match="does not run on 1 × p4d") as caught:
        current_plan("1 x p4d.24xlarge", full, engine)
    assert type(caught.value).__name__ == "NoFeasiblePlanError"
