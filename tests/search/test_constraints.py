"""Constraints: what they remove, that it adds up, and what to relax."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    llama_fixture,
    physics_fixture,
    table_fixture,
)

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.domain import Quota
from advisor.search.constraints import (
    NO_COMMITMENT,
    NUMBERS,
    Constraints,
    apply,
)
from advisor.search.finish import deadline_probability, hours_at_chance, meets_deadline
from advisor.search.interruptions import never_interrupted
from advisor.search.relax import relaxations
from advisor.search.search import Evaluated
from advisor.transient import NO_DATA

CHOICES = {
    "clouds": ("cloud", ["aws", "gcp", "azure"]),
    "areas": ("area", ["US", "Europe"]),
    "regions": ("region", ["r1", "r2", "r3"]),
    "families": ("family", ["Hopper", "Ampere"]),
    "accelerators": ("accelerator", ["H100", "A100"]),
    "markets": ("market", ["on_demand", "spot", "reserved_1y"]),
    "countries": ("country", ["DE", "US"]),
}
# Limits that are numbers: what they compare, and what a plan must be to it.
AT_MOST = {
    "most_machines": lambda plan: plan["machines"],
    "budget_usd": lambda plan: plan["cost_usd"],
    "most_usd_per_h": lambda plan: plan["machines"] * plan["usd_per_h"],
    "most_carbon_kg": lambda plan: plan["machines"] * plan["carbon_kg_per_h"] * plan["hours"],
    "spot_usd_per_accelerator_h": lambda plan: (
        plan["usd_per_h"] / plan["accelerators"] if plan["market"] == "spot" else 0
    ),
}
QUOTAS = (
    Quota(name="P", cloud="aws", region="r1", market="not_spot", instance_types=("a", "b"),
          unit="vcpus", most=96),
    Quota(name="A100", cloud="gcp", market="spot", instance_types=("b",), unit="accelerators",
          most=16),
    Quota(name="b", cloud="azure", instance_types=("b",), unit="machines", most=0),
)  # fmt: skip

one_plan = st.fixed_dictionaries(
    {column: st.sampled_from(values) for column, values in CHOICES.values()}
    | {
        "rankable": st.sampled_from([True, True, True, False]),
        "available": st.sampled_from([math.nan, math.nan, 2.0, 8.0]),
        "machines": st.sampled_from([1, 2, 4, 8]),
        "instance_type": st.sampled_from(["a", "b", "c"]),
        "accelerators": st.sampled_from([1.0, 8.0]),
        "vcpus": st.sampled_from([math.nan, 24.0, 96.0]),
        "usd_per_h": st.floats(0.1, 100),
        "device_memory_gb": st.sampled_from([16.0, 80.0, 141.0]),
        "confidential": st.booleans(),
        "carbon_kg_per_h": st.floats(0.1, 10),
        "hours": st.floats(0.1, 1e3),
        "training_h": st.floats(0.01, 1e4),
        "startup_h": st.floats(0, 1),
        "startup_log_sigma": st.floats(0, 2),
        "log_sigma": st.floats(0.05, 1.0),
        "cost_usd": st.floats(0.01, 1e7),
        "struck": st.just(math.nan) | st.floats(0.01, 0.99),
    }
)


def with_interruptions(plans: pd.DataFrame) -> pd.DataFrame:
    """Add a law of the finish where a chance of an interruption is given."""
    struck = plans.pop("struck").to_numpy(float)
    known = ~np.isnan(struck)
    location = np.log((plans["training_h"] + plans["startup_h"]) * HOUR_S)
    law = {
        "mean_s": np.exp(location + struck + 0.02),
        "revocations": 2 * struck,
        "untouched": 1 - struck,
        "quiet_location": location.where(known),
        "quiet_spread": np.where(known, 0.1, np.nan),
        "struck_location": location + 0.5 + struck,
        "struck_spread": np.where(known, 0.4, np.nan),
    }
    return plans.assign(**never_interrupted(plans) | law)


tables = st.lists(one_plan, min_size=1, max_size=30).map(pd.DataFrame).map(with_interruptions)
limits_of_sets = {
    name: st.none() | st.sets(st.sampled_from(values), min_size=1).map(frozenset)
    for name, (_, values) in CHOICES.items()
}
all_limits = st.builds(
    Constraints,
    **limits_of_sets,
    most_machines=st.none() | st.sampled_from([1, 2, 3, 8]),
    deadline_h=st.none() | st.floats(0.01, 1e4),
    budget_usd=st.none() | st.floats(0.01, 1e6),
    confidential=st.booleans(),
    least_memory_gb=st.none() | st.sampled_from([40.0, 80.0, 192.0]),
    quotas=st.sets(st.sampled_from(QUOTAS)).map(tuple),
    spot_usd_per_accelerator_h=st.none() | st.floats(0.1, 20),
    most_usd_per_h=st.none() | st.floats(0.1, 500),
    most_carbon_kg=st.none() | st.floats(0.1, 1e4),
    chance=st.floats(0.5, 0.99),
)


def within(plan: dict[str, Any], quota: Quota) -> bool:
    """Return whether a plan uses no more than a quota allows, or is not limited by it."""
    if plan["cloud"] != quota.cloud or plan["instance_type"] not in quota.instance_types:
        return True
    if quota.region not in ("", plan["region"]):
        return True
    if quota.market != "any" and (plan["market"] == "spot") != (quota.market == "spot"):
        return True
    each = {"machines": 1, "accelerators": plan["accelerators"], "vcpus": plan["vcpus"]}
    return plan["machines"] * each[quota.unit] <= quota.most


def allowed(plan: dict[str, Any], limits: Constraints) -> bool:
    """Return whether a plan satisfies all limits, one plain comparison after the other."""
    for name, (column, _) in CHOICES.items():
        wanted = getattr(limits, name)
        if wanted is not None and plan[column] not in wanted:
            return False
    for name, value_of in AT_MOST.items():
        most = getattr(limits, name)
        if most is not None and value_of(plan) > most:
            return False
    one = pd.DataFrame([plan])
    return bool(
        plan["rankable"]
        and not plan["machines"] > plan["available"]
        and plan["confidential"] >= limits.confidential
        and plan["device_memory_gb"] >= (limits.least_memory_gb or 0)
        and all(within(plan, quota) for quota in limits.quotas)
        and (
            limits.deadline_h is None
            or hours_at_chance(one, limits.chance)[0] <= limits.deadline_h
        )
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(tables, all_limits)
def test_what_is_left_is_what_a_loop_leaves_and_what_is_removed_adds_up(
    plans: pd.DataFrame, limits: Constraints
) -> None:
    mask, removed = apply(plans, limits)
    assert mask.tolist() == [allowed(plan, limits) for plan in plans.to_dict("records")]
    assert sum(removed.values()) + mask.sum() == len(plans)
    assert all(count >= 0 for count in removed.values())


@pytest.mark.parametrize("name", [f.name for f in fields(Constraints) if f.name != "chance"])
def test_each_constraint_alone_removes_what_it_names(name: str, table: Evaluated) -> None:
    plans = table.plans
    if name == "most_carbon_kg":
        plans = plans.assign(carbon_kg_per_h=1.0)
    middle = {"most_machines": 4, "deadline_h": 24.0, "budget_usd": 1500.0,
              "least_memory_gb": 80.0, "spot_usd_per_accelerator_h": 1.5, "most_usd_per_h": 60.0,
              "most_carbon_kg": 50.0,
              "confidential": True}  # fmt: skip
    if name in middle:
        value: Any = middle[name]
    elif name == "quotas":
        value = (Quota(name="p4d.24xlarge", cloud="aws", instance_types=("p4d.24xlarge",),
                       unit="vcpus", most=192),)  # fmt: skip
    else:
        value = frozenset([str(plans[CHOICES[name][0]].iloc[0])])
    limits = Constraints(**({"markets": None} | {name: value}))
    mask, removed = apply(plans, limits)
    assert set(removed) == {"price_not_trusted", name}
    assert removed[name] > 0
    assert 0 < mask.sum() < len(plans)
    left = plans[mask]
    assert left["rankable"].all()
    if name in CHOICES:
        assert set(left[CHOICES[name][0]].astype(str)) == value
    elif name == "deadline_h":
        assert (hours_at_chance(left, limits.chance) <= value).all()
        assert (left["hours"] <= value).all()
    elif name in AT_MOST:
        assert all(AT_MOST[name](plan) <= value for plan in left.to_dict("records"))
    elif name == "confidential":
        assert set(left["instance_type"]) == {"Standard_NCC40ads_H100_v5", "a3-highgpu-1g"}
    elif name == "quotas":
        assert left["machines"][left["instance_type"] == "p4d.24xlarge"].max() == 2
    else:
        assert left["device_memory_gb"].min() == value


def test_reserved_prices_are_left_out_unless_asked_for(table: Evaluated) -> None:
    mask, _ = apply(table.plans, Constraints())
    assert set(table.plans[mask]["market"].astype(str)) == {"on_demand", "spot"}
    mask, _ = apply(table.plans, Constraints(markets=frozenset({"reserved_3y"})))
    assert set(table.plans[mask]["market"].astype(str)) == {"reserved_3y"}


def test_prices_that_are_not_trusted_are_never_left(table: Evaluated) -> None:
    mask, removed = apply(table.plans, Constraints(markets=None))
    assert removed["price_not_trusted"] == (~table.plans["rankable"]).sum() > 0
    assert table.plans[mask]["rankable"].all()


def test_an_empty_set_leaves_nothing(table: Evaluated) -> None:
    mask, _ = apply(table.plans, Constraints(clouds=frozenset()))
    assert not mask.any()


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf])
def test_a_limit_that_is_no_positive_number_is_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Constraints(**{name: value})
    assert caught.value.where == name.replace("_", " ")
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("chance", [0, 1, -0.1, 1.5, math.nan])
def test_a_chance_is_between_zero_and_one(chance: float) -> None:
    with pytest.raises(InvalidInputError, match="chance"):
        Constraints(chance=chance)


def test_what_is_given_are_the_limits_that_differ_from_none_at_all() -> None:
    assert Constraints().given() == []
    assert Constraints(chance=0.9, markets=NO_COMMITMENT).given() == []
    limits = Constraints(deadline_h=3, clouds=frozenset({"aws"}), markets=frozenset({"spot"}))
    assert limits.given() == ["clouds", "markets", "deadline_h"]
    assert limits.without("clouds").given() == ["markets", "deadline_h"]


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(0.5, 0.99), st.floats(0.1, 1e4))
def test_the_deadline_filter_and_the_chance_of_a_plan_agree(
    plans: pd.DataFrame, chance: float, deadline_h: float
) -> None:
    needed = hours_at_chance(plans, chance)
    met = deadline_probability(plans, deadline_h)
    clear = np.abs(needed / deadline_h - 1) > 1e-5
    assert ((needed <= deadline_h) == (met >= chance))[clear].all()
    assert (meets_deadline(plans, deadline_h, chance) == (met >= chance))[clear].all()


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(0.01, 0.99))
def test_hours_at_a_chance_are_met_with_that_chance(plans: pd.DataFrame, chance: float) -> None:
    for row, needed in enumerate(hours_at_chance(plans, chance)):
        one = plans.iloc[[row]]
        assert deadline_probability(one, float(needed))[0] == pytest.approx(chance, abs=1e-5)


def test_the_median_is_met_with_even_chances_and_the_interval_as_it_says(table: Evaluated) -> None:
    plans = table.plans[table.plans["untouched"].isna()]
    assert hours_at_chance(plans, 0.5) == pytest.approx(plans["hours"].to_numpy())
    assert hours_at_chance(plans, 0.95) == pytest.approx(plans["hours_high"].to_numpy())
    assert hours_at_chance(plans, 0.05) == pytest.approx(plans["hours_low"].to_numpy())


def test_the_interval_of_a_plan_that_may_be_interrupted_is_that_of_its_finish(
    table: Evaluated,
) -> None:
    plans = table.plans[table.plans["untouched"].notna()]
    assert len(plans)
    # An expectation can lie outside: rare interruptions that cost much.
    hours = plans["hours"].to_numpy()
    assert np.maximum(hours_at_chance(plans, 0.95), hours) == pytest.approx(
        plans["hours_high"].to_numpy(), rel=1e-5
    )
    assert np.minimum(hours_at_chance(plans, 0.05), hours) == pytest.approx(
        plans["hours_low"].to_numpy(), rel=1e-5
    )


def test_a_deadline_before_the_machines_have_started_is_never_met(table: Evaluated) -> None:
    assert deadline_probability(table.plans, 1e-6) == pytest.approx(0, abs=1e-9)


def step_below(value: float) -> float:
    """Return the next smaller number of two digits."""
    unit = 10.0 ** (math.floor(math.log10(value) + 1e-12) - 1)
    below = value - unit
    return below if below >= 10 * unit * (1 - 1e-9) else value - unit / 10


@settings(max_examples=120, deadline=None)
@given(tables, all_limits)
def test_every_relaxation_makes_it_feasible_and_no_smaller_one_does(
    plans: pd.DataFrame, limits: Constraints
) -> None:
    mask, _ = apply(plans, limits)
    assume(not mask.any())
    for way in relaxations(plans, limits):
        relaxed, _ = apply(plans, way.limits)
        assert relaxed.sum() == way.plans > 0
        assert relaxed[way.plan]
        assert plans["cost_usd"][way.plan] == plans["cost_usd"][relaxed].min()
        changed = {f.name for f in fields(limits)
                   if getattr(limits, f.name) != getattr(way.limits, f.name)}  # fmt: skip
        assert changed == set(way.names)
        if way.names in (("deadline_h",), ("budget_usd",)):
            (name,) = way.names
            value = getattr(way.limits, name)
            assert value > getattr(limits, name)
            smaller = Constraints(
                **{f.name: getattr(limits, f.name) for f in fields(limits)}
                | {name: max(step_below(value) * (1 - 1e-9), getattr(limits, name))}
            )
            assert not apply(plans, smaller)[0].any()
        if way.names == ("most_machines",):
            fewer = way.limits.most_machines - 1
            smaller = Constraints(
                **{f.name: getattr(limits, f.name) for f in fields(limits)}
                | {"most_machines": max(fewer, limits.most_machines)}
            )
            assert not apply(plans, smaller)[0].any()


@settings(max_examples=60, deadline=None)
@given(tables, all_limits)
def test_a_limit_that_alone_blocks_everything_is_among_the_ways(
    plans: pd.DataFrame, limits: Constraints
) -> None:
    assume(not apply(plans, limits)[0].any())
    ways = {way.names for way in relaxations(plans, limits)}
    for name in set(limits.given()) - {"markets"}:
        if apply(plans, limits.without(name))[0].any():
            assert (name,) in ways
    assert [way.plan for way in relaxations(plans, limits)] == sorted(
        [way.plan for way in relaxations(plans, limits)], key=lambda row: plans["cost_usd"][row]
    )


def test_opening_the_markets_does_not_open_reserved_ones(table: Evaluated) -> None:
    limits = Constraints(markets=frozenset({"reserved_1y"}), clouds=frozenset({"azure"}))
    assert not apply(table.plans, limits)[0].any()
    (way,) = [way for way in relaxations(table.plans, limits) if way.names == ("markets",)]
    assert way.limits.markets == NO_COMMITMENT | {"reserved_1y"}


def plans_of(*rows: tuple[float, float]) -> pd.DataFrame:
    """Return equal plans but for hours and cost."""
    hours, cost = zip(*rows, strict=True)
    return pd.DataFrame(
        {"rankable": True, "available": math.nan, "cloud": "aws", "market": "spot",
         "usd_per_h": 1.0, "accelerators": 1.0,
         "machines": 1, "training_h": hours,
         "startup_h": 0.0, "startup_log_sigma": 0.0, "log_sigma": 0.1, "cost_usd": cost,
         "struck": math.nan}
    ).pipe(with_interruptions)  # fmt: skip


def test_deadline_and_budget_together_are_relaxed_less_than_either_alone() -> None:
    plans = plans_of((1.0, 1000.0), (3.0, 203.0), (10.0, 101.0))
    limits = Constraints(deadline_h=2.0, budget_usd=120.0, chance=0.5)
    ways = {way.names: way for way in relaxations(plans, limits)}
    assert ways["deadline_h",].limits.deadline_h == 10.0
    assert ways["budget_usd",].limits.budget_usd == 1000.0
    both = ways["deadline_h", "budget_usd"]
    assert (both.limits.deadline_h, both.limits.budget_usd) == (3.0, 210.0)
    assert (both.plan, both.plans) == (1, 1)


def test_no_limit_is_relaxed_to_what_only_a_lower_bound_meets() -> None:
    plans = plans_of((10.0, 300.0), (4.0, 90.0))
    plans["interruption_basis"] = ["", NO_DATA]
    limits = Constraints(deadline_h=2.0, chance=0.5)
    (way,) = relaxations(plans, limits)
    assert (way.limits.deadline_h, way.plan, way.plans) == (10.0, 0, 2)
    (way,) = relaxations(plans, Constraints(budget_usd=50.0))
    assert (way.limits.budget_usd, way.plan) == (300.0, 0)
    both = relaxations(plans, Constraints(deadline_h=2.0, budget_usd=50.0, chance=0.5))
    assert [way.plan for way in both] == [0]
    assert both[0].names == ("deadline_h", "budget_usd")


def test_where_every_finish_is_a_bound_the_bounds_are_what_limits_are_relaxed_to() -> None:
    plans = plans_of((10.0, 300.0), (4.0, 90.0)).assign(interruption_basis=NO_DATA)
    (way,) = relaxations(plans, Constraints(deadline_h=2.0, chance=0.5))
    assert (way.limits.deadline_h, way.plan) == (4.0, 1)


def test_a_suggestion_is_rounded_up_and_never_down() -> None:
    plans = plans_of((71.2, 1234.5))
    (way,) = relaxations(plans, Constraints(deadline_h=5.0, chance=0.5))
    assert way.limits.deadline_h == 72.0
    (way,) = relaxations(plans, Constraints(budget_usd=99.0))
    assert way.limits.budget_usd == 1300.0
