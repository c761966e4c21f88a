"""The page Compare: how plans get there, what it shows, and what an address may hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import button, open_page, text_of

from advisor.advice import Engine
from advisor.ui.state import DEFAULT_JOB

KEYS = [
    "aws~p5.48xlarge~us-east-1~on_demand~8",
    "aws~p4d.24xlarge~us-east-1~spot~8",
    "gcp~a3-highgpu-8g~us-central1~spot~4",
]


@pytest.fixture(autouse=True)
def _own_engine(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))


def compare(*keys: str, **address: str) -> AppTest:
    return open_page("compare", **{"job": DEFAULT_JOB, "compare": list(keys)} | address)


def table_of(test: AppTest) -> dict[str, list[str]]:
    table = test.table[0].value
    return {row[" "]: [row[c] for c in table.columns[2:]] for row in table.to_dict("records")}


def test_without_plans_it_says_how_to_choose_them() -> None:
    said = text_of(open_page("compare"))
    assert "No plan is chosen yet" in said
    assert "two to five plans" in said


def test_a_link_shows_the_same_parts_of_every_plan() -> None:
    test = compare(*KEYS, deadline="36")
    said = text_of(test)
    for heading in ("Time to finish", "Bill", "One step", "Memory per device", "Line by line"):
        assert heading in said
    # Of the third, spot on Google Cloud, no interruption data are known: bounds from below.
    known, bound = ["Cost, 90 %", "Time, 90 %"], ["Cost, at least", "Time, at least"]
    assert [m.label for m in test.metric] == [*known, *known, *bound]
    assert len(test.get("progress")) == 3
    assert [len(cells) for cells in table_of(test).values()] == [3] * len(table_of(test))


def test_only_differences_are_listed_until_all_are_asked_for() -> None:
    test = compare(KEYS[0], KEYS[0].replace("~8", "~4"))
    some = table_of(test)
    assert "Machines" in some
    assert "Market" not in some
    test.toggle(key="differences").set_value(False).run()
    every = table_of(test)
    assert every["Market"] == ["On\\-demand", "On\\-demand"] or every["Market"] == ["On-demand"] * 2
    assert set(some) < set(every)


def test_the_lowest_cost_and_the_shortest_time_are_bold() -> None:
    table = table_of(compare(*KEYS))
    for name in ("Cost, 90 %", "Time, 90 %"):
        assert sum(cell.startswith("**") for cell in table[name]) == 1


def test_one_plan_asks_for_another() -> None:
    assert "at least one more plan" in text_of(compare(KEYS[0]))


def test_a_plan_that_left_the_catalog_is_named_and_can_be_taken_out() -> None:
    gone = "aws~p9.96xlarge~us-east-1~spot~2"
    test = compare(*KEYS[:2], gone)
    assert "2 × p9.96xlarge" in text_of(test)
    button(test, "Take out").click().run()
    assert "p9.96xlarge" not in text_of(test)
    assert test.query_params["compare"] == KEYS[:2]


def test_taking_a_plan_out_leaves_the_others() -> None:
    test = compare(*KEYS)
    test.button(key="remove_B").click().run()
    assert test.query_params["compare"] == [KEYS[0], KEYS[2]]
    assert len(test.metric) == 4


def test_more_than_five_plans_do_not_fit() -> None:
    keys = [KEYS[0].replace("~8", f"~{n}") for n in range(1, 9)]
    test = compare(*keys)
    assert len(test.query_params["compare"]) == 5
    assert "6 × p5.48xlarge" not in text_of(test)


@pytest.mark.parametrize(
    "key", ["<script>alert(1)</script>", "a~b", "~~~~", "aws~p5.48xlarge~us-east-1~on_demand~1e99"]
)
def test_an_address_can_name_anything(key: str) -> None:
    said = text_of(compare(key, KEYS[0]))
    assert "<script>" not in said.replace("\\<", "")


def test_a_job_that_is_not_understood_is_said() -> None:
    assert "unknown model" in text_of(compare(*KEYS, job="lama-2-7 · 10 B tokens"))


def test_plans_are_added_on_advise_and_stay_when_the_page_changes() -> None:
    test = open_page("advise", job=DEFAULT_JOB, deadline="72")
    for name in ("cheapest", "safest"):
        test.button(key=f"compare_{name}").click().run()
    assert "To compare: 2 of 5" in text_of(test)
    assert len(test.query_params["compare"]) == 2
    test.switch_page("advisor/ui/pages/compare.py").run()
    assert "Compare plans" in text_of(test)
    assert len(test.metric) == 4
    assert test.query_params["deadline"] == "72"


def test_the_detail_adds_its_plan_and_takes_it_out() -> None:
    test = open_page("advise", job=DEFAULT_JOB, plan=KEYS[0])
    button(test, "Add to compare").click().run()
    assert test.query_params["compare"] == KEYS[0]
    button(test, "In comparison").click().run()
    assert "compare" not in test.query_params
