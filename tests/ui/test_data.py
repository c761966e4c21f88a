"""The data behind the charts and tables, without pixels."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.advice import Engine
from advisor.advice.advise import select
from advisor.advice.job_line import parse_job
from advisor.advice.plans import make_plan, plan_keys, row_of_key
from advisor.core.errors import InvalidInputError
from advisor.search.constraints import Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate
from advisor.ui.charts.bars import NONE, bill_bar, draw_bar, memory_bar, step_bar
from advisor.ui.charts.cost_time import MOST_DOTS, cost_time_data, draw_cost_time, pick_labels
from advisor.ui.charts.finish import draw_finish, finish_data
from advisor.ui.charts.style import log_ticks
from advisor.ui.plan_markets import markets_table
from advisor.ui.state import DEFAULT_JOB, inputs_of
from advisor.ui.tables import front_table
from advisor.ui.theme import DARK, FAMILIES, LIGHT, MARKET_SYMBOLS, MARKET_TITLES


@pytest.fixture(scope="module")
def table(engine: Engine) -> Evaluated:
    workload = parse_job(DEFAULT_JOB).job.workload()
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


LIMITS = Constraints(deadline_h=36.0, budget_usd=3000.0, most_machines=16)


def test_chart_holds_front_and_picks_and_few_enough_dots(table: Evaluated) -> None:
    result = select(table, LIMITS)
    data = cost_time_data(table, result, LIMITS)
    assert set(result.front) <= set(data.rows)
    assert set(result.picks.values()) <= set(data.rows)
    assert len(data.rows) <= MOST_DOTS + len(result.front) + 4
    assert np.array_equal(data.inside, np.isin(data.rows, result.rows))
    assert (~data.inside).any()


def test_dots_show_each_machine_and_count_once(table: Evaluated) -> None:
    result = select(table, LIMITS)
    data = cost_time_data(table, result, LIMITS)
    extra = np.setdiff1d(data.rows, [*result.front, *result.picks.values()])
    keys = table.plans.iloc[extra][["instance_type", "machines", "market"]]
    assert not keys.duplicated().any()


def test_front_never_rises_with_time(table: Evaluated) -> None:
    front = table.plans.iloc[select(table, LIMITS).front]
    assert front["hours"].is_monotonic_increasing
    assert front["cost_usd"].is_monotonic_decreasing


def test_picks_on_one_plan_share_a_label() -> None:
    labels = pick_labels({"cheapest": 3, "fastest": 5, "best_value": 3, "safest": 9})
    assert labels == {3: "Cheapest, best value", 5: "Fastest", 9: "Safest"}


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_drawn_dot_carries_its_plan_and_the_colour_of_its_family(
    table: Evaluated, colours: object
) -> None:
    data = cost_time_data(table, select(table, LIMITS), LIMITS)
    figure = draw_cost_time(table, data, colours)  # type: ignore[arg-type]
    dots = [trace for trace in figure.data if trace.customdata is not None]
    assert sum(len(trace.x) for trace in dots) == len(data.rows) + len(data.labels)
    for trace in dots:
        for key, colour in zip(trace.customdata, trace.marker.color, strict=True):
            row = row_of_key(table.plans, key)
            assert row is not None
            assert colour == colours.family(str(table.plans.iloc[row]["family"]))  # type: ignore[attr-defined]


def test_an_infeasible_chart_draws_what_is_near(table: Evaluated) -> None:
    limits = Constraints(deadline_h=0.01)
    result = select(table, limits)
    data = cost_time_data(table, result, limits)
    assert not result.picks
    assert len(data.rows) > 0
    assert not data.inside.any()
    draw_cost_time(table, data, LIGHT)


def test_keys_name_every_row_once(table: Evaluated) -> None:
    keys = plan_keys(table.plans)
    assert len(set(keys)) == len(keys)
    assert row_of_key(table.plans, keys[17]) == 17


@pytest.mark.parametrize("key", ["", "a~b", "aws~x~y~spot~1", "~~~~", "aws~p5~us~spot~-1"])
def test_a_key_of_no_plan_gives_none(table: Evaluated, key: str) -> None:
    assert row_of_key(table.plans, key) is None


def test_families_of_the_catalog_have_colours(engine: Engine) -> None:
    assert set(engine.catalog.accelerators["family"]) <= set(FAMILIES)
    assert set(engine.catalog.offers["market"]) <= set(MARKET_SYMBOLS)


def test_bars_sum_to_their_totals(table: Evaluated, engine: Engine) -> None:
    plan = make_plan(table, select(table, LIMITS).picks["safest"], engine, 36.0)
    step, memory, bill = step_bar(plan.parts), memory_bar(plan.memory), bill_bar(plan.bill)
    assert sum(part.share for part in step.parts) == pytest.approx(1)
    assert sum(part.value or 0 for part in step.parts) == pytest.approx(plan.step_time_s.value)
    assert sum(part.share for part in memory.parts) == pytest.approx(1)
    assert sum(part.value or 0 for part in bill.parts) == pytest.approx(plan.bill.total_usd)
    assert {part.name: part.text for part in bill.parts}["Allowance"] == NONE
    for data in (step, memory, bill):
        assert len(draw_bar(data, LIGHT).data) == len(data.parts)


def test_an_unknown_part_is_not_available_and_not_zero(table: Evaluated, engine: Engine) -> None:
    plan = make_plan(table, select(table, LIMITS).picks["safest"], engine, 36.0)
    bill = bill_bar(plan.bill.model_copy(update={"storage_usd": None, "writes_usd": None}))
    assert {part.name: part.text for part in bill.parts}["Checkpoints"] == "not available"
    assert {part.name: part.text for part in bill.parts}["Data"] == "not stated"


def test_finish_curve_passes_through_the_estimate_and_the_deadline(table: Evaluated) -> None:
    plan = table.plans.iloc[select(table, LIMITS).picks["cheapest"]]
    data = finish_data(plan, 36.0)
    assert np.interp(plan["hours"], data.hours, data.chance) == pytest.approx(0.5, abs=0.01)
    assert np.all(np.diff(data.chance) > 0)
    assert data.deadline_chance == pytest.approx(np.interp(36.0, data.hours, data.chance), abs=0.01)
    draw_finish(data, DARK)


def test_table_is_sorted_by_cost_and_holds_picks(table: Evaluated) -> None:
    result = select(table, LIMITS)
    shown = front_table(table, result, 36.0)
    assert shown["Cost, USD"].is_monotonic_increasing
    assert {"Cheapest", "Fastest"} <= set(", ".join(shown["Pick"]).title().split(", "))
    bound = shown["Interrupted"] == "not known"
    assert shown["In 36 h, %"][~bound].between(80, 99.9).all()
    assert shown["In 36 h, %"][bound].isna().all()
    assert shown["Cost, 90 %"][bound].str.startswith("≥ ").all()
    assert "In 36 h, %" not in front_table(table, result, None).columns
    spot = shown["Market"] == "Spot"
    assert (shown["Interrupted"][~spot] == "none").all()
    assert (shown["Interrupted"][spot] != "none").all()


def test_log_ticks_lie_inside_and_step_1_2_5() -> None:
    ticks = log_ticks([-0.1, 1.2], str)
    assert ticks["tickvals"] == [1.0, 2.0, 5.0, 10.0]


def test_the_page_opens_no_file_of_the_server(tmp_path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}", encoding="utf-8")
    said = []
    for path in (config, tmp_path / "absent.json", tmp_path / "private"):
        with pytest.raises(InvalidInputError, match="no file is read here") as caught:
            _ = inputs_of({"job": f"{path} · 10 B tokens"}).parsed
        said.append(str(caught.value))
    assert len(set(said)) == 1


def test_the_same_machines_are_shown_in_every_market(table: Evaluated) -> None:
    plans = table.plans
    place = ["instance_type", "region", "machines"]
    markets = plans[plans["rankable"]].groupby(place, observed=True)["market"].transform("nunique")
    row = plans.index.get_loc(markets[markets > 1].index[0])
    shown = markets_table(table, row, 36.0)
    same = plans[
        (plans["instance_type"] == plans["instance_type"].iloc[row])
        & (plans["region"] == plans["region"].iloc[row])
        & (plans["machines"] == plans["machines"].iloc[row])
        & plans["rankable"]
    ]
    assert len(shown) == len(same) > 1
    (bold,) = [cells for cells in shown.itertuples(index=False) if cells[0].startswith("**")]
    assert MARKET_TITLES[str(plans["market"].iloc[row])] in bold[0]
    assert list(shown.columns)[-2:] == ["Within 36\xa0h", "Interrupted"]
    on_demand = shown[shown["Market"].str.contains("demand")]["Interrupted"]
    assert on_demand.str.contains("none").all()
