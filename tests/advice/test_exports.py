"""The front as a table that spreadsheets read and cannot be made to run."""

from __future__ import annotations

import csv
import io

import pytest

from advisor import zoo
from advisor.advice import Engine, advise
from advisor.advice.exports import FORMULA_STARTS, front_csv
from advisor.domain import Advice
from advisor.search.constraints import Constraints


@pytest.fixture(scope="module")
def advice(engine: Engine) -> Advice:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=10e9, global_batch=1024)
    return advise(workload, engine, limits=Constraints(deadline_h=72.0))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_every_plan_once_cheapest_first(advice: Advice) -> None:
    rows = rows_of(front_csv(advice))
    plans = {plan.id: plan for plan in advice.pareto}
    plans |= {pick.plan.id: pick.plan for pick in advice.picks.values()}
    assert {row["plan_id"] for row in rows} == set(plans)
    assert len(rows) == len(plans)
    costs = [float(row["cost_usd"]) for row in rows]
    assert costs == sorted(costs)
    assert {name for row in rows for name in row["pick"].split()} == set(advice.picks)


def test_numbers_are_plain_and_agree_with_the_plans(advice: Advice) -> None:
    plans = {plan.id: plan for plan in advice.pareto}
    for row in rows_of(front_csv(advice)):
        plan = plans.get(row["plan_id"])
        if plan is None:
            continue
        assert float(row["cost_usd"]) == pytest.approx(plan.cost_usd.value, abs=0.005)
        assert float(row["hours"]) == pytest.approx(plan.hours.value, abs=0.0005)
        assert float(row["hours_low"]) <= float(row["hours"]) <= float(row["hours_high"])
        assert int(row["machines"]) == plan.cluster.machines
        assert float(row["deadline_probability"]) == plan.deadline_probability
        assert row["price_source"] == plan.offer.source
        assert row["price_as_of"] == str(plan.offer.as_of or "")


def test_the_table_is_the_same_byte_for_byte(advice: Advice) -> None:
    assert front_csv(advice) == front_csv(advice)
    assert "\r" not in front_csv(advice)


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_cells_that_a_spreadsheet_would_run_are_neutralised(start: str, advice: Advice) -> None:
    evil = f'{start}HYPERLINK("http://example.org","x")\n,"'
    plan = advice.picks["cheapest"].plan
    group = plan.cluster.groups[0].model_copy(update={"instance_type": evil, "region": evil})
    cluster = plan.cluster.model_copy(update={"groups": (group,)})
    offer = plan.offer.model_copy(update={"source": evil})
    bad = plan.model_copy(update={"cluster": cluster, "offer": offer})
    pick = advice.picks["cheapest"].model_copy(update={"plan": bad})
    changed = advice.model_copy(update={"picks": {"cheapest": pick}, "pareto": ()})
    (row,) = rows_of(front_csv(changed))
    for column in ("instance_type", "region", "price_source"):
        assert row[column] == f"'{evil}"
    assert not any(cell.startswith(FORMULA_STARTS) for cell in row.values())
