"""The page Plans: save, rename, delete, undo, record a run, and what changed since."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from plan_examples import plan
from streamlit.testing.v1 import AppTest
from ui_apps import button, open_page, text_of

from advisor.advice.job_line import parse_job
from advisor.advice.saved import Outcome
from advisor.domain import Estimate, Interruptions, Plan
from advisor.store import SavedPlan, Store, schema
from advisor.ui.plan_cards import run_words
from advisor.ui.state import DEFAULT_JOB

KEY = "aws~p5.48xlarge~us-east-1~on_demand~8"
HOSTILE = "<script>alert(1)</script> **bold** [x](javascript:alert(1)) $a$ :red[b]"
WORKLOAD = parse_job(DEFAULT_JOB).job.workload()


@pytest.fixture(autouse=True)
def _own_store(engine_copy: Path) -> None:
    """Keep the plans of these tests to themselves."""


def keep(given: Plan | None = None, name: str = "mine", **inputs: str) -> SavedPlan:
    """Save a plan without the page."""
    with Store.open() as store:
        address = {"job": DEFAULT_JOB, "plan": KEY} | inputs
        return store.save_plan(given or plan(), WORKLOAD, name=name, job=DEFAULT_JOB,
                               inputs=address)  # fmt: skip


def change(saved: SavedPlan, **columns: str) -> None:
    """Change what the store holds of a plan, as another version would have."""
    with Store.open() as store, store._writing() as connection:
        query = sa.update(schema.plans).where(schema.plans.c.id == saved.id)
        connection.execute(query.values(**columns))


def stored() -> list[SavedPlan]:
    with Store.open() as store:
        return store.plans()


def field(test: AppTest, label: str):
    """Return the first field with a label."""
    return next(f for f in [*test.text_input, *test.number_input, *test.text_area]
                if f.label == label)  # fmt: skip


def changes_of(saved: SavedPlan) -> AppTest:
    """Open the page and what changed since."""
    test = open_page("plans")
    test.session_state[f"since_{saved.id}"] = True
    return test.run()


def rows(test: AppTest) -> dict[str, list[str]]:
    table = test.table[0].value
    return {row[" "]: [row[c] for c in ("When saved", "Today", "Change")]
            for row in table.to_dict("records")}  # fmt: skip


def test_without_plans_it_says_how_they_come_here() -> None:
    assert "No plan is saved yet" in text_of(open_page("plans"))


def test_a_plan_is_saved_from_its_detail_and_listed_with_what_was_predicted() -> None:
    test = open_page("advise", job=DEFAULT_JOB, deadline="72", plan=KEY)
    cost, time = (next(m.value for m in test.metric if m.label == name)
                  for name in ("Cost", "Time"))  # fmt: skip
    field(test, "Name").set_value("Llama for  spring")
    button(test, "Save").click().run()
    assert "Saved as **Llama for spring**" in text_of(test)
    (saved,) = stored()
    assert saved.inputs == {"job": DEFAULT_JOB, "deadline": "72", "plan": KEY}
    test = open_page("plans")
    assert "Llama for spring" in text_of(test)
    assert [m.value for m in test.metric][:2] == [cost, time]
    assert "us\\-east\\-1" in text_of(test) or "us-east-1" in text_of(test)


def test_a_name_that_cannot_be_kept_is_refused_where_it_was_typed() -> None:
    test = open_page("advise", job=DEFAULT_JOB, plan=KEY)
    field(test, "Name").set_value("  ")
    button(test, "Save").click().run()
    assert "cannot be the name of a plan" in text_of(test)
    assert stored() == []


def test_a_plan_is_renamed_and_the_old_name_comes_back() -> None:
    keep(name="first")
    test = open_page("plans")
    field(test, "Name").set_value("second")
    button(test, "Rename").click().run()
    assert "Renamed “first” to “second”" in text_of(test)
    assert stored()[0].name == "second"
    button(test, "Undo").click().run()
    assert "“first” again" in text_of(test)
    assert stored()[0].name == "first"


def test_a_bad_new_name_is_said_and_changes_nothing() -> None:
    keep(name="first")
    test = open_page("plans")
    field(test, "Name").set_value("a\u202eb")
    button(test, "Rename").click().run()
    assert "cannot be the name of a plan" in text_of(test)
    assert stored()[0].name == "first"


def test_a_deleted_plan_comes_back_by_undo_and_later_from_the_list_of_deleted_ones() -> None:
    keep(name="first")
    test = open_page("plans")
    button(test, "Delete").click().run()
    assert "Deleted “first”" in text_of(test)
    assert stored() == []
    button(test, "Undo").click().run()
    assert stored()[0].name == "first"
    button(test, "Delete").click().run()
    later = open_page("plans")
    assert "No plan is saved yet" in text_of(later)
    button(later, "Bring back").click().run()
    assert "“first” is back" in text_of(later)
    assert stored()[0].name == "first"


def test_a_plan_that_somebody_else_deleted_meanwhile_is_said() -> None:
    saved = keep(name="first")
    test = open_page("plans")
    with Store.open() as store:
        store.delete_plan(saved.id)
    button(test, "Delete").click().run()
    assert "unknown plan" in text_of(test)
    assert "No plan is saved yet" in text_of(test)


def test_what_was_taken_back_in_another_window_is_said() -> None:
    saved = keep(name="first")
    with Store.open() as store:
        store.delete_plan(saved.id)
        test = open_page("plans")
        store.undo()
    button(test, "Bring back").click().run()
    assert "taken back before" in text_of(test)
    assert stored() == [saved]


def test_a_run_is_recorded_shown_beside_the_prediction_and_taken_back() -> None:
    keep(plan(hours=10))
    test = open_page("plans")
    field(test, "Hours, from start to end").set_value(11.0)
    field(test, "Bill, USD").set_value(9000.0)
    field(test, "Note").set_value("two *restarts*")
    button(test, "Record").click().run()
    said = text_of(test)
    assert "Time **11.0 h**" in said.replace("\xa0", " ")
    assert "1.10 × predicted" in said
    assert "inside the interval" in said
    assert "outside the interval" in said
    assert "two \\*restarts\\*" in said
    button(test, "Take back").click().run()
    assert "× predicted" not in text_of(test)
    assert stored()[0].finished == ()


def test_a_plan_of_which_no_interruption_is_known_shows_bounds_from_below() -> None:
    unknown = Interruptions(basis="no interruption data for this market")
    keep(plan().model_copy(update={"interruptions": unknown}))
    test = open_page("plans")
    assert "Interruptions not known" in text_of(test)
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Cost, 90 %"].startswith("≥ ")
    assert shown["Time, 90 %"].startswith("≥ ")


def test_a_log_of_the_run_is_read_compared_and_kept() -> None:
    keep(plan(hours=20.0))
    line = " iteration {}/ 9 | elapsed time per iteration (ms): 79200.0 | global batch size: {} |\n"
    test = open_page("plans")
    log = "".join(line.format(i, 32) for i in range(1, 6)).encode()
    test.file_uploader[0].set_value([("train.log", log, "text/plain")])
    button(test, "Record").click().run()
    assert "not of the plan: its global batch is 32" in text_of(test).replace("\\", "")
    assert stored()[0].finished == ()
    log = "".join(line.format(i, 1024) for i in range(1, 6)).encode()
    test.file_uploader[0].set_value([("train.log", log, "text/plain")])
    button(test, "Record").click().run()
    assert "1.10 × predicted" in text_of(test)
    assert stored()[0].finished[0].step_time_s == pytest.approx(79.2)
    with Store.open() as store:
        assert store.count(origin="user") == 1


def test_a_run_of_nothing_is_refused() -> None:
    keep()
    test = open_page("plans")
    button(test, "Record").click().run()
    assert "Give the hours, the bill, a trace or log" in text_of(test)
    assert stored()[0].finished == ()


def test_a_note_that_cannot_be_kept_is_refused_and_what_was_typed_stays() -> None:
    keep()
    test = open_page("plans")
    field(test, "Hours, from start to end").set_value(3.0)
    field(test, "Note").set_value("a\0b")
    button(test, "Record").click().run()
    assert "cannot be stored" in text_of(test)
    assert field(test, "Hours, from start to end").value == 3.0


def test_open_goes_to_advise_with_the_saved_inputs() -> None:
    keep(deadline="48")
    test = open_page("plans")
    button(test, "Open").click().run()
    assert test.query_params["plan"] == KEY
    assert test.query_params["deadline"] == "48"


def test_what_changed_since_compares_price_bill_time_and_data() -> None:
    given = plan(count=8)
    saved = keep(given.model_copy(update={"catalog_hash": "f" * 64}))
    test = changes_of(saved)
    table = rows(test)
    assert table["Price of a machine"][0].startswith("\\$9.50/h, 2026")
    assert table["Price of a machine"][1].startswith("\\$")
    assert table["Cost, 90 %"][2].endswith("%")
    assert "h" in table["Time, 90 %"][1]
    assert "Prices and machines: changed" in text_of(test)
    assert "Measured runs: changed" in text_of(test)


def test_a_plan_whose_offer_vanished_says_so_and_is_still_listed() -> None:
    given = plan()
    offer = given.offer.model_copy(update={"region": "moon-north-1"})
    test = changes_of(keep(given.model_copy(update={"offer": offer})))
    assert "no longer offered" in text_of(test)
    assert rows(test)["Price of a machine"][1] == "no longer offered"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"version": 1', '"version": 0'),
        lambda text: text.replace('"version": 1', '"version": 99'),
        lambda text: text.replace('"mfu"', '"unheard_of"'),
        lambda _: "{",
        lambda _: "",
    ],
)
def test_a_plan_of_another_version_is_listed_and_says_why_it_is_not_predicted_anew(
    spoil: Callable[[str], str],
) -> None:
    saved = keep(name="older")
    change(saved, content=spoil(saved.plan_json))
    test = changes_of(saved)
    said = text_of(test)
    assert "older" in said
    assert "Not predicted anew" in said
    assert rows(test)["Cost, 90 %"][1] == "not available"


def test_a_hostile_name_and_job_are_shown_as_they_are() -> None:
    saved = keep(name=HOSTILE)
    change(saved, job=HOSTILE)
    said = text_of(open_page("plans"))
    assert "<script>" not in said.replace("\\<", "")
    assert "**bold**" not in said.replace("\\*", "")
    assert ":red[b]" not in said


def test_inputs_that_the_page_does_not_know_are_not_opened() -> None:
    forged = {"job": DEFAULT_JOB, "embed": "true", "clouds": ["nowhere"], "plan": ["a", "b"]}
    change(keep(), inputs=json.dumps(forged))
    test = open_page("plans")
    button(test, "Open").click().run()
    assert dict(test.query_params) == {"job": DEFAULT_JOB}


def test_plans_of_the_present_job_can_be_compared() -> None:
    here, other = keep(name="here"), keep(name="other", deadline="10")
    test = open_page("advise", job=DEFAULT_JOB)
    test.switch_page("advisor/ui/pages/plans.py").run()
    assert f"compare_{other.id}" not in {b.key for b in test.button}
    test.button(key=f"compare_{here.id}").click().run()
    assert test.query_params["compare"] == KEY
    assert "Plans" in text_of(test)


def test_a_plan_without_inputs_opens_by_its_job_or_not_at_all() -> None:
    with Store.open() as store:
        store.save_plan(plan(), WORKLOAD)
    assert button(open_page("plans"), "Open").disabled


def test_many_plans_are_shown_some_at_a_time() -> None:
    with Store.open() as store:
        for number in range(23):
            store.save_plan(plan(), WORKLOAD, name=f"plan {number:02}")
    test = open_page("plans")
    assert "plan 22" in text_of(test)
    assert "plan 02" not in text_of(test)
    button(test, "Show 3 more of 23").click().run()
    assert "plan 00" in text_of(test)


def test_a_damaged_store_is_said(engine_copy: Path) -> None:
    keep()
    (engine_copy / "advisor.db").write_bytes(b"no database" * 999)
    said = text_of(open_page("plans"))
    assert "What to do" in said


def test_what_a_run_took_is_told_with_unit_interval_and_ratio() -> None:
    predicted = Estimate(value=2.0, low=1.5, high=2.5, unit="s", basis="interpolated")
    words = run_words(Outcome("One step", predicted, 2.6)).replace("\xa0", " ").replace("\\", "")
    assert "One step **2.60 s** :gray[predicted 2.00 s (1.50–2.50) · 1.30 × predicted]" in words
    assert "outside" in words
