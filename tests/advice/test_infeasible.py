"""When nothing is feasible: which limit, which value, and that the value helps."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

from advisor import zoo
from advisor.advice import Engine, Result, advise, select
from advisor.advice.infeasible import NAMES, change, no_plan
from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import NBSP, hours, usd
from advisor.domain import Workload
from advisor.search.constraints import Constraints
from advisor.search.relax import relaxations
from advisor.search.search import Evaluated, SearchOptions, evaluate


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=10e9, global_batch=1024)


@pytest.fixture(scope="module")
def table(workload: Workload, engine: Engine) -> Evaluated:
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


def said_of(table: Evaluated, limits: Constraints) -> str:
    return str(no_plan(table, limits, select(table, limits).removed))


@pytest.mark.parametrize(
    ("limits", "pattern", "name"),
    [
        (Constraints(deadline_h=0.01), rf"deadline ([\d.,]+){NBSP}h", "deadline_h"),
        (Constraints(budget_usd=3.0), r"budget \$([\d.,]+)", "budget_usd"),
    ],
)
def test_a_limit_that_nobody_can_meet_is_named_with_the_value_that_helps(
    limits: Constraints, pattern: str, name: str, table: Evaluated, workload: Workload,
    engine: Engine,
) -> None:  # fmt: skip
    with pytest.raises(NoFeasiblePlanError) as caught:
        advise(workload, engine, limits=limits)
    found = re.search(pattern, caught.value.todo)
    assert found
    value = float(found[1].replace(",", ""))
    result = select(table, Constraints(**{name: value}))
    assert result.picks
    plan = table.plans.iloc[result.picks["cheapest"]]
    assert f"{plan['machines']} × {plan['instance_type']}" in caught.value.todo
    assert f"{hours(plan['hours'])}{NBSP}h, {usd(plan['cost_usd'])}" in caught.value.todo


def test_names_that_leave_nothing_are_opened(table: Evaluated) -> None:
    limits = Constraints(clouds=frozenset({"lambda"}), families=frozenset({"TPU"}))
    said = said_of(table, limits)
    assert "any clouds (" in said
    assert "any accelerator families (" in said


def test_every_way_is_said(table: Evaluated) -> None:
    limits = Constraints(deadline_h=0.05, budget_usd=10.0, most_machines=1)
    ways = relaxations(table.plans, limits)
    said = said_of(table, limits)
    for way in ways:
        for name in way.names:
            assert change(way.limits, name) in said


def test_limits_of_which_none_alone_is_to_blame_are_all_named(table: Evaluated) -> None:
    limits = Constraints(
        clouds=frozenset({"lambda"}), areas=frozenset({"Asia"}), accelerators=frozenset({"TPU-v4"})
    )
    ways = relaxations(table.plans, limits)
    assert ways
    assert all(len(way.names) > 1 for way in ways)
    said = said_of(table, limits)
    assert "none meets clouds lambda and areas Asia together" in said
    assert "No single change is enough. Relax together: any clouds and any accelerators (" in said
    assert "slower" not in said


def test_a_model_that_fits_nowhere_says_so(engine: Engine) -> None:
    workload = zoo.build_workload(zoo.resolve("llama-3-405b"), steps=1, global_batch=1)
    with pytest.raises(NoFeasiblePlanError, match="fits into memory on up to 8 accelerators"):
        advise(workload, engine, options=SearchOptions(most_accelerators=8))


def test_a_batch_that_divides_over_nothing_says_so(table: Evaluated) -> None:
    nothing = replace(table, plans=table.plans.iloc[:0], considered=0)
    assert "divides the global batch" in said_of(nothing, Constraints())


def test_prices_that_are_all_not_trusted_say_so(table: Evaluated) -> None:
    untrusted = replace(table, plans=table.plans.assign(rankable=False))
    assert "not trusted" in said_of(untrusted, Constraints())


@pytest.mark.parametrize(
    ("limits", "name", "words"),
    [
        (Constraints(deadline_h=36), "deadline_h", f"deadline 36{NBSP}h"),
        (Constraints(budget_usd=1200), "budget_usd", "budget $1,200"),
        (Constraints(most_machines=1), "most_machines", "1 machine"),
        (Constraints(most_machines=16), "most_machines", "16 machines"),
        (Constraints(clouds=frozenset({"gcp", "aws"})), "clouds", "clouds aws, gcp"),
        (Constraints(), "markets", "markets capacity-block, on-demand, savings-plan, spot"),
        (Constraints(), "clouds", "any clouds"),
        (Constraints(regions=frozenset("abcdef")), "regions", "regions a, b, c, d and 2 more"),
    ],
)
def test_a_limit_is_written_as_it_stands(limits: Constraints, name: str, words: str) -> None:
    assert change(limits, name) == words


def test_every_limit_has_a_name() -> None:
    fields = {f for f in Constraints.__dataclass_fields__ if f != "chance"}
    # Own machines and paid blocks have ends of their own: no limit that is set.
    assert set(NAMES) == fields | {"available", "capacity_block"}


def test_an_empty_result_has_no_picks_and_no_front(table: Evaluated) -> None:
    result = select(table, Constraints(deadline_h=0.001))
    assert isinstance(result, Result)
    assert result.picks == {}
    assert len(result.rows) == len(result.front) == 0
    assert sum(result.removed.values()) == table.considered
    assert isinstance(table.plans, pd.DataFrame)
