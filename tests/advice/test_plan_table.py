"""Rows of the table as plans, and their names in links."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import zoo
from advisor.advice import Engine, select
from advisor.advice.flips import flips
from advisor.advice.plans import KEY_SEPARATOR, make_plan, plan_keys, row_of_key
from advisor.core.units import usd
from advisor.search.constraints import Constraints, apply
from advisor.search.finish import hours_at_chance
from advisor.search.search import Evaluated, SearchOptions, evaluate


@pytest.fixture(scope="module")
def table(engine: Engine) -> Evaluated:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=10e9, global_batch=1024)
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


def test_every_row_becomes_a_plan_that_agrees_with_it(table: Evaluated, engine: Engine) -> None:
    for row in range(0, len(table.plans), 997):
        plan, cells = make_plan(table, row, engine, 24.0), table.plans.iloc[row]
        group = plan.cluster.groups[0]
        for name in ("cloud", "instance_type", "region", "accelerator"):
            assert getattr(group, name) == cells[name]
        assert plan.offer.market == cells["market"]
        assert plan.offer.usd_per_h == cells["usd_per_h"]
        assert plan.hours.value == cells["hours"]
        assert (plan.hours.low, plan.hours.high) == (cells["hours_low"], cells["hours_high"])
        assert plan.cost_usd.value == cells["cost_usd"]
        assert plan.bill.total_usd == pytest.approx(cells["cost_usd"], abs=0.05)  # ten lines
        assert plan.memory.out_of_memory_probability == cells["out_of_memory"]
        needed = hours_at_chance(table.plans.iloc[[row]], plan.deadline_probability)[0]
        if 1e-6 < plan.deadline_probability < 1 - 1e-6:
            assert needed == pytest.approx(24.0, rel=1e-4)


def test_keys_name_every_row_once_and_lead_back_to_it(table: Evaluated) -> None:
    keys = plan_keys(table.plans)
    assert len(set(keys)) == len(table.plans)
    for row in range(0, len(table.plans), 1999):
        assert row_of_key(table.plans, keys[row]) == row


@pytest.mark.parametrize(
    "key",
    ["", "~", "~~~~", "a~b~c~d", "a~b~c~d~1", "a~b~c~d~1~2", "a~b~c~d~²", "a~b~c~d~" + "9" * 5000,
     "a~b~c~d~-1", "a~b~c~d~x"],
)  # fmt: skip
def test_keys_of_no_row_lead_nowhere(key: str, table: Evaluated) -> None:
    assert row_of_key(table.plans, key) is None


@given(st.text(alphabet="~ab1²٣", max_size=12))
def test_any_text_is_a_key_or_none(text: str) -> None:
    plans = pd.DataFrame(
        {"cloud": ["a"], "instance_type": ["b"], "region": ["a"], "market": ["b"], "machines": [1]}
    )
    expected = 0 if text == KEY_SEPARATOR.join("abab1") else None
    assert row_of_key(plans, text) == expected


def price_in(text: str) -> float:
    """Return the price that stands in a sentence such as “Price above $12.3/h”."""
    return float(text.split("$")[1].removesuffix("/h").replace(",", ""))


def test_at_the_price_of_a_flip_another_plan_is_the_cheapest(table: Evaluated) -> None:
    rows = select(table, Constraints()).rows
    cheapest = select(table, Constraints()).picks["cheapest"]
    flip = next(f for f in flips(table, rows, cheapest, Constraints()) if "Price" in f.change)
    plans = table.plans
    own = plans.iloc[cheapest]
    rent = own["machines"] * own["hours"]
    for factor, dearer in ((1.02, True), (0.98, False)):
        cost = own["cost_usd"] + (price_in(flip.change) * factor - own["usd_per_h"]) * rent
        assert (cost > plans["cost_usd"][flip.row]) == dearer
    assert flip.row != cheapest
    assert flip.now == f"now {usd(own['usd_per_h'])}/h"


def test_at_the_step_of_a_flip_another_plan_is_the_cheapest(table: Evaluated) -> None:
    result = select(table, Constraints())
    cheapest = result.picks["cheapest"]
    flip = next(
        f for f in flips(table, result.rows, cheapest, Constraints()) if f.change.startswith("Step")
    )
    plans, own = table.plans, table.plans.iloc[cheapest]
    text, unit = flip.change.removeprefix("Step above ").split("\xa0")
    step_s = float(text) * {"ms": 1e-3, "s": 1.0, "min": 60.0}[unit]
    now_s = float(table.best.prediction.step_s[own["entry"]])
    rate = own["machines"] * own["usd_per_h"]
    for factor, dearer in ((1.02, True), (0.98, False)):
        longer_h = own["training_h"] * (step_s * factor / now_s - 1)
        assert (own["cost_usd"] + rate * longer_h > plans["cost_usd"][flip.row]) == dearer


def test_a_plan_that_is_not_the_cheapest_says_when_it_would_be(table: Evaluated) -> None:
    result = select(table, Constraints())
    fastest = result.picks["fastest"]
    said = flips(table, result.rows, fastest, Constraints())
    assert all(flip.row == fastest for flip in said)
    assert all("below" in flip.change for flip in said)


def test_a_sooner_deadline_flips_to_a_plan_that_meets_it(table: Evaluated) -> None:
    limits = Constraints(deadline_h=200.0)
    result = select(table, limits)
    cheapest = result.picks["cheapest"]
    flip = next(
        f for f in flips(table, result.rows, cheapest, limits) if f.change.startswith("Deadline")
    )
    needed = hours_at_chance(table.plans, limits.chance)
    assert needed[flip.row] < needed[cheapest]
    tighter = Constraints(deadline_h=float(needed[cheapest]) * 0.999)
    assert apply(table.plans, tighter)[0][flip.row]
    assert select(table, tighter).picks["cheapest"] == flip.row


def test_one_plan_alone_flips_to_nothing(table: Evaluated) -> None:
    result = select(table, Constraints(deadline_h=200.0))
    cheapest = result.picks["cheapest"]
    only = result.rows[result.rows == cheapest]
    said = flips(table, only, cheapest, Constraints(deadline_h=200.0))
    assert all(flip.row is None for flip in said)
