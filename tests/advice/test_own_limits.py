"""Advice within commitments, exchange rates and grids that only the user knows."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from advisor import zoo
from advisor.advice import Engine, advise, select
from advisor.advice.currency import Currency, budget_in_usd, currency_named
from advisor.catalog.load import assemble
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError
from advisor.search.constraints import Constraints
from advisor.search.facts import carbon_kg
from advisor.search.search import SearchOptions, evaluate
from advisor.ui.charts.carbon import carbon_data, draw_carbon
from advisor.ui.charts.cost_time import cost_time_data
from advisor.ui.theme import LIGHT

if TYPE_CHECKING:
    from advisor.domain import Workload

BLOCK_H = 48.0
EURO = Currency("EUR", 1.25, dt.date(2026, 7, 1))
SMALL = SearchOptions(most_accelerators=32)


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=2e9, global_batch=1024)


@pytest.fixture(scope="module", name="own")
def own_fixture(engine: Engine) -> Engine:
    """An engine whose catalog has a capacity block, a grid and a rate of the user."""
    tables = engine.catalog.tables
    block = {"cloud": "aws", "instance_type": "p4d.24xlarge", "region": "us-east-1",
             "market": "capacity_block", "usd_per_h": 5.0, "derived": False,
             "as_of": pd.Timestamp("2026-11-01"), "source": "your own list", "available": 2.0,
             "block_h": BLOCK_H}  # fmt: skip
    plain = tables.offers[["cloud", "instance_type", "region", "market", "usd_per_h", "derived",
                           "as_of", "source"]]  # fmt: skip
    names = dict.fromkeys(["cloud", "instance_type", "region", "market", "source"], object)
    offers = pd.concat([plain.astype(names), pd.DataFrame([block])], ignore_index=True)
    offers = offers.astype(dict.fromkeys(names, "category"))
    offers["as_of"] = offers["as_of"].astype("datetime64[s]")
    carbon = pd.DataFrame([{"cloud": "aws", "region": "us-east-1", "g_per_kwh": 400.0, "pue": None},
                           {"cloud": "aws", "region": "eu-north-1", "g_per_kwh": 20.0,
                            "pue": 1.2}])  # fmt: skip
    rates = pd.DataFrame([{"currency": "EUR", "usd": 1.25, "as_of": dt.date(2026, 7, 1)}])
    changed = dataclasses.replace(tables, offers=offers, carbon=carbon, rates=rates)
    return dataclasses.replace(engine, catalog=assemble(changed, dt.date(2026, 12, 1)))


def test_a_capacity_block_is_paid_whole_and_the_job_ends_within_it(
    own: Engine, workload: Workload
) -> None:
    limits = Constraints(markets=frozenset({"capacity_block"}))
    plan = advise(workload, own, options=SMALL, limits=limits).picks["cheapest"].plan
    assert plan.cluster.machines <= 2
    assert plan.hours.value < BLOCK_H
    rent = BLOCK_H * 5.0 * plan.cluster.machines
    assert plan.cost_usd.value == pytest.approx(rent, rel=0.05)
    assert plan.bill.total_usd >= rent


def test_a_job_that_is_longer_than_the_block_is_not_planned_in_it(own: Engine) -> None:
    longer = zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=60e9, global_batch=1024)
    with pytest.raises(NoFeasiblePlanError):
        advise(longer, own, options=SMALL,
               limits=Constraints(markets=frozenset({"capacity_block"})))  # fmt: skip


def test_emissions_are_power_by_hours_by_grid_and_limit_plans(
    own: Engine, workload: Workload
) -> None:
    table = evaluate(workload, own.catalog, own.predictor, SMALL)
    kg = carbon_kg(table.plans)
    known = pd.notna(kg)
    assert set(table.plans["region"][known].astype(str)) == {"us-east-1", "eu-north-1"}
    least = float(kg[known].min())
    advice = advise(workload, own, options=SMALL, limits=Constraints(most_carbon_kg=3 * least))
    for pick in advice.picks.values():
        emitted, plan = pick.plan.carbon_kg, pick.plan
        assert emitted is not None
        assert emitted.low <= emitted.value <= min(emitted.high, 3 * least)
        tdp_w = own.catalog.accelerator(plan.cluster.groups[0].accelerator).tdp_w
        assert tdp_w is not None
        grid = {"us-east-1": 0.4, "eu-north-1": 0.02 * 1.2}[plan.offer.region]
        expected = plan.cluster.accelerators * tdp_w / 1000 * plan.hours.value * grid
        assert emitted.value == pytest.approx(expected)


def test_without_a_grid_emissions_are_not_available(engine: Engine, workload: Workload) -> None:
    plan = advise(workload, engine, options=SMALL).picks["cheapest"].plan
    assert plan.carbon_kg is None
    with pytest.raises(NoFeasiblePlanError, match="carbon"):
        advise(workload, engine, options=SMALL, limits=Constraints(most_carbon_kg=1e9))


def test_the_carbon_chart_shows_what_is_known_and_its_front(
    own: Engine, workload: Workload
) -> None:
    table = evaluate(workload, own.catalog, own.predictor, SMALL)
    limits = Constraints()
    shown = cost_time_data(table, select(table, limits), limits)
    data = carbon_data(table.plans, shown)
    assert len(data.rows) == len(data.kg) <= len(shown.rows)
    assert (data.kg > 0).all()
    hours = table.plans["hours"].to_numpy()[data.rows]
    for position in data.front:
        better = (hours < hours[position]) & (data.kg < data.kg[position]) & data.inside
        assert not better.any()
    figure = draw_carbon(table.plans, data, None, LIGHT)
    assert "kg CO2e" in figure.data[0].hovertext[0]


def test_a_budget_in_a_currency_is_compared_at_the_users_rate(own: Engine) -> None:
    currency = currency_named("eur", own.catalog)
    assert currency == EURO
    assert budget_in_usd(100.0, None, currency) == 125.0
    assert budget_in_usd(None, 50.0, currency) == 50.0
    assert currency_named("USD", own.catalog) is None
    with pytest.raises(InvalidInputError, match="twice"):
        budget_in_usd(1.0, 1.0, None)


def test_a_currency_without_a_rate_is_refused_with_where_to_enter_it(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match=r"prices import rates\.csv"):
        currency_named("JPY", engine.catalog)
