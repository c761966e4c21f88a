"""Each pick is what its name says, and the reason says it with the right numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.advice.interruptions import LOWER_BOUND
from advisor.advice.picks import PICKS, SAFETY_PRICE, SAME_RISK, SAME_WIDTH, pick_rows, reason
from advisor.core.units import NBSP, hours, percent, usd
from advisor.search.constraints import Constraints, apply
from advisor.search.finish import deadline_probability
from advisor.search.interruptions import never_interrupted
from advisor.transient import NO_DATA

some_plans = st.lists(
    st.fixed_dictionaries(
        {
            "training_h": st.sampled_from([0.5, 1.0, 2.0, 5.0, 5.0001, 20.0]) | st.floats(0.1, 100),
            "startup_h": st.sampled_from([0.0, 0.1]),
            "cost_usd": st.sampled_from([10.0, 20.0, 20.0, 50.0]) | st.floats(1, 1e4),
            "log_sigma": st.sampled_from([0.1, 0.2, 0.5]),
            "out_of_memory": st.sampled_from([0.0, 0.002, 0.2]),
            "market": st.sampled_from(["on_demand", "spot", "reserved_1y"]),
            "instance_type": st.sampled_from(["a", "b", "c"]),
            "machines": st.integers(1, 8),
        }
    ),
    min_size=1,
    max_size=25,
).map(lambda rows: finished(pd.DataFrame(rows)))


def finished(plans: pd.DataFrame) -> pd.DataFrame:
    """Add what follows from the rest."""
    high = plans["startup_h"] + plans["training_h"] * np.exp(1.645 * plans["log_sigma"])
    return plans.assign(
        hours=plans["training_h"] + plans["startup_h"],
        hours_high=high,
        startup_log_sigma=0.0,
        rankable=True,
        available=np.nan,
        **never_interrupted(plans),
    )


def picked(plans: pd.DataFrame, limits: Constraints) -> tuple[dict[str, int], np.ndarray]:
    rows = np.flatnonzero(apply(plans, limits)[0])
    return (pick_rows(plans, rows, limits) if len(rows) else {}), rows


@settings(max_examples=60, deadline=None)
@given(some_plans, st.none() | st.floats(0.5, 50))
def test_picks_are_what_their_names_say(plans: pd.DataFrame, deadline_h: float | None) -> None:
    limits = Constraints(markets=None, deadline_h=deadline_h)
    picks, rows = picked(plans, limits)
    if not len(rows):
        return
    assert tuple(picks) == PICKS
    assert set(picks.values()) <= set(rows.tolist())
    left = plans.iloc[rows]
    cheapest, fastest = plans.iloc[picks["cheapest"]], plans.iloc[picks["fastest"]]
    assert cheapest["cost_usd"] == left["cost_usd"].min()
    assert fastest["hours"] == left["hours"].min()
    # Of equal ones the better in the other respect.
    assert cheapest["hours"] == left["hours"][left["cost_usd"] == cheapest["cost_usd"]].min()
    assert fastest["cost_usd"] == left["cost_usd"][left["hours"] == fastest["hours"]].min()
    value = plans.iloc[picks["best_value"]]
    beaten = (left["hours"] < value["hours"]) & (left["cost_usd"] <= value["cost_usd"])
    assert not beaten.any()


@settings(max_examples=60, deadline=None)
@given(some_plans, st.none() | st.floats(0.5, 50))
def test_the_safest_has_the_least_risk_at_a_fair_price(
    plans: pd.DataFrame, deadline_h: float | None
) -> None:
    limits = Constraints(markets=None, deadline_h=deadline_h)
    picks, rows = picked(plans, limits)
    if not len(rows):
        return
    left = plans.iloc[rows]
    late = 1 - deadline_probability(left, deadline_h) if deadline_h else 0.0
    left = left.assign(risk=late + left["out_of_memory"] + (left["market"] == "spot"))
    safest = left.loc[picks["safest"]]
    steady = left[left["market"] != "spot"]
    if len(steady):
        assert safest["market"] != "spot"
        affordable = left[left["cost_usd"] <= SAFETY_PRICE * steady["cost_usd"].min()]
    else:
        affordable = left
    assert picks["safest"] in affordable.index
    assert safest["risk"] <= affordable["risk"].min() + SAME_RISK
    equal = affordable[affordable["risk"] <= affordable["risk"].min() + SAME_RISK]
    assert safest["log_sigma"] <= SAME_WIDTH * equal["log_sigma"].min()
    known = equal[equal["log_sigma"] <= SAME_WIDTH * equal["log_sigma"].min()]
    assert safest["cost_usd"] == known["cost_usd"].min()


@settings(max_examples=60, deadline=None)
@given(some_plans)
def test_picks_do_not_depend_on_plans_outside_the_limits(plans: pd.DataFrame) -> None:
    limits = Constraints(markets=None, budget_usd=100.0)
    picks, rows = picked(plans, limits)
    if not len(rows):
        return
    alone = plans.iloc[rows].reset_index(drop=True)
    own, _ = picked(alone, limits)
    assert {name: int(rows[row]) for name, row in own.items()} == picks


def table(*rows: tuple[str, str, float, float, float]) -> pd.DataFrame:
    """Return plans of (instance type, market, hours, cost, log sigma)."""
    names = ["instance_type", "market", "training_h", "cost_usd", "log_sigma"]
    plans = pd.DataFrame(rows, columns=names)
    return finished(plans.assign(startup_h=0.0, out_of_memory=0.0, machines=1))


FRONT = table(
    ("slow", "spot", 100.0, 100.0, 0.2),
    ("middle", "on_demand", 12.0, 130.0, 0.2),
    ("fast", "on_demand", 10.0, 1000.0, 0.1),
    ("sure", "on_demand", 40.0, 300.0, 0.1),
)


def test_the_best_value_is_at_the_bend_of_the_front() -> None:
    picks, _ = picked(FRONT, Constraints())
    assert picks == {"cheapest": 0, "fastest": 2, "best_value": 1, "safest": 3}


def test_reasons_state_the_differences_to_the_cheapest() -> None:
    limits = Constraints(deadline_h=200.0)
    picks, rows = picked(FRONT, limits)
    said = {name: reason(name, FRONT, picks, rows, limits) for name in picks}
    assert said["cheapest"] == "Lowest bill of 4 plans. The next machine, middle, costs $30.0 more."
    assert said["fastest"] == (
        f"Finishes first: 90{NBSP}h sooner than the cheapest for $900 more, $10.0 per hour saved."
    )
    assert said["best_value"] == (
        f"Best balance: 88{NBSP}h sooner than the cheapest for $30.0 more, $0.341 per hour saved."
    )
    assert said["safest"] == (
        f"Cannot be interrupted. >99{NBSP}% within the deadline. "
        f"95{NBSP}% sure to take less than 47{NBSP}h. "
        "$200 more than the cheapest."
    )


def unknown(plans: pd.DataFrame) -> pd.DataFrame:
    """Return the same plans in a market of whose interruptions nothing is known."""
    return plans.assign(interruption_basis=NO_DATA)


def test_a_lower_bound_wins_over_no_plan_whose_finish_is_known() -> None:
    bound = unknown(table(("bound", "spot", 5.0, 50.0, 0.1)))
    plans = pd.concat([FRONT, bound], ignore_index=True)
    picks, rows = picked(plans, Constraints())
    assert picks == picked(FRONT, Constraints())[0]
    assert reason("cheapest", plans, picks, rows, Constraints()) == (
        "Lowest bill of 4 plans whose finish is known. The next machine, middle, costs $30.0 more. "
        "1 × bound on spot, of whose interruptions nothing is known, costs $50.0 at least."
    )


def test_where_no_finish_is_known_the_bounds_are_picked_and_say_so() -> None:
    plans = unknown(FRONT.assign(market="spot"))
    picks, rows = picked(plans, Constraints())
    assert picks["cheapest"] == 0
    said = reason("cheapest", plans, picks, rows, Constraints())
    assert said.startswith("Lowest bill of 4 plans. ")
    assert said.endswith(LOWER_BOUND)


def test_a_single_plan_is_everything_at_once() -> None:
    one = table(("only", "spot", 10.0, 100.0, 0.2))
    picks, rows = picked(one, Constraints())
    assert set(picks.values()) == {0}
    said = {name: reason(name, one, picks, rows, Constraints()) for name in picks}
    assert said["cheapest"] == "The only plan left."
    assert said["fastest"] == "Finishes first: it is the cheapest too."
    assert said["safest"].startswith("Every plan left can be interrupted")
    assert "more than" not in said["safest"]


@settings(max_examples=60, deadline=None)
@given(some_plans, st.floats(0.5, 50))
def test_reasons_contain_the_numbers_they_claim(plans: pd.DataFrame, deadline_h: float) -> None:
    limits = Constraints(markets=None, deadline_h=deadline_h)
    picks, rows = picked(plans, limits)
    if not len(rows):
        return
    cheapest = plans.iloc[picks["cheapest"]]
    for name, row in picks.items():
        plan, said = plans.iloc[row], reason(name, plans, picks, rows, limits)
        assert said.endswith(".")
        assert not re.search(r"nan|inf|-\$|\$-| -\d", said)
        more = plan["cost_usd"] - cheapest["cost_usd"]
        sooner = cheapest["hours"] - plan["hours"]
        if name in ("fastest", "best_value") and sooner > 0 and more > 0:
            assert f"{hours(sooner)}{NBSP}h sooner" in said
            assert f"{usd(more)} more, {usd(more / sooner)} per hour" in said
        if name == "safest":
            chance = deadline_probability(plans.iloc[[row]], deadline_h)[0]
            assert percent(chance) in said
            assert (f"{usd(more)} more" in said) == (more > 0)


@pytest.mark.parametrize("name", PICKS)
def test_reasons_are_short(name: str) -> None:
    picks, rows = picked(FRONT, Constraints(deadline_h=200.0))
    said = reason(name, FRONT, picks, rows, Constraints(deadline_h=200.0))
    assert len(said) < 160
