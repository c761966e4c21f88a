"""Advise and Compare calibrated by own runs that the address names."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui_apps import button, open_page, text_of

from advisor.advice.kept_runs import key_of
from advisor.domain import Profile, Provenance
from advisor.store import Store

JOB = "ResNet-50 · 90 epochs · resolution 224 · batch 256 · fp32"
PLAN = "aws~p3.2xlarge~us-east-1~on_demand~1"


@pytest.fixture(autouse=True)
def _own_store(engine_copy: Path) -> None:
    """Keep the runs of these tests to themselves."""


def run(**changes: object) -> Profile:
    fields: dict[str, object] = {
        "model": "ResNet-50", "family": "cnn", "accelerator": "V100-16GB", "accelerators": 1,
        "nodes": 1, "global_batch": 256, "sample_size": 224, "precision": "fp32",
        "step_time_s": 1.4, "provenance": Provenance(source="own trace"),
    }  # fmt: skip
    return Profile.model_validate(fields | changes)


def keep(*runs: Profile) -> list[str]:
    with Store.open() as store:
        store.add(runs)
    return [key_of(one) for one in runs]


def test_the_runs_of_the_address_are_named_and_their_predictions_are_calibrated() -> None:
    said = text_of(open_page("advise", job=JOB, plan=PLAN, runs=keep(run())))
    assert "Calibrated by one of your runs" in said
    assert "ResNet\\-50 on 1 × V100\\-16GB" in said or "ResNet-50 on 1 × V100-16GB" in said
    assert "Before" in said
    assert "by one of your runs (same job)" in said.replace("\\", "")
    assert "Measured runs bend the physics by a factor of " in said
    assert ", one of your runs (same job) by " in said
    assert ":blue-badge[:material/tune: Calibrated]" in said


def test_a_run_that_is_far_from_what_is_predicted_is_to_be_checked() -> None:
    said = text_of(open_page("advise", job=JOB, runs=keep(run(step_time_s=100.0))))
    assert "Check:" in said
    assert "times off what is predicted" in said


def test_without_runs_in_the_address_they_are_offered_and_can_be_taken_out_again() -> None:
    keys = keep(run())
    test = open_page("advise", job=JOB)
    assert "Calibrated by one" not in text_of(test)
    button(test, "Calibrate by one of your runs").click().run()
    assert "Calibrated by one of your runs" in text_of(test)
    assert test.query_params["runs"] == keys[0]
    button(test, "Take out").click().run()
    assert "Calibrated by one" not in text_of(test)
    assert "runs" not in test.query_params


def test_nothing_is_offered_without_own_runs() -> None:
    test = open_page("advise", job=JOB)
    assert "Cheapest" in text_of(test)
    assert not [one for one in test.button if one.label.startswith("Calibrate")]


def test_runs_that_cannot_be_used_are_named_with_the_reason() -> None:
    usable, deleted = run(), run(step_time_s=1.5)
    strange = run(model="my-own-net", global_batch=None)
    keys = keep(usable, deleted, strange)
    with Store.open() as store:
        store.delete_profile(deleted.content_hash)
    said = text_of(open_page("advise", job=JOB, runs=[*keys, "feedfeedfeed", "<script>"]))
    plain = said.replace("\\", "")
    assert "Calibrated by one of your runs" in plain
    assert f"{keys[1]} was deleted" in plain
    assert "my-own-net" in plain
    assert "feedfeedfeed is not among your runs" in plain
    assert "<script>" not in said


def test_a_run_of_nothing_usable_leaves_the_answer_as_it_is() -> None:
    said = text_of(open_page("advise", job=JOB, runs=["feedfeedfeed"]))
    assert "Calibrated by none of your runs" in said
    assert "Cheapest" in said


def test_compare_is_calibrated_by_the_same_runs_and_keeps_them_in_its_address() -> None:
    keys = keep(run())
    other = "aws~p3.8xlarge~us-east-1~on_demand~1"
    test = open_page("compare", job=JOB, compare=[PLAN, other], runs=keys)
    assert "Calibrated by one of your runs" in text_of(test)
    assert test.query_params["runs"] == keys[0]
    button(test, "Take out").click().run()
    assert "Calibrated by one" not in text_of(test)


def test_runs_stay_when_the_page_changes() -> None:
    keys = keep(run())
    test = open_page("advise", job=JOB, runs=keys, compare=[PLAN])
    test.switch_page("advisor/ui/pages/compare.py").run()
    assert "Calibrated by one of your runs" in text_of(test)
    assert test.query_params["runs"] == keys[0]
