"""The store on the Profiles page: searched, corrected, left out, deleted, and all of it undone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import button, open_page, text_of

from advisor.advice import Engine
from advisor.advice.refits import Refits, Verdict, write_refits
from advisor.domain import Profile, Provenance
from advisor.store import Store
from advisor.traces import Trace
from advisor.ui import state
from advisor.ui.run_words import table_of
from advisor.ui.stored_runs import changes_of, matching, own_first, run_title, shown_table


def run(model: str = "resnet-50", **changes: object) -> Profile:
    fields: dict[str, object] = {
        "model": model, "family": "cnn", "accelerator": "V100-16GB", "accelerators": 1,
        "global_batch": 32, "step_time_s": 0.1234567, "provenance": Provenance(source="own trace"),
    }  # fmt: skip
    return Profile.model_validate(fields | changes)


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        store.add([run("bert-large", accelerator="T4"), run("vgg-16")], origin="seed")
        store.add([run()])
        store.add([run("gpt-2", global_batch=None)])
        store.mark_outlier(run("vgg-16").content_hash)
        return own_first(store.profiles(state=None))


def test_own_runs_come_first_and_the_newest_of_them_before_the_others(frame: pd.DataFrame) -> None:
    assert list(frame["model"])[:2] == ["gpt-2", "resnet-50"]
    assert list(frame["origin"]) == ["user", "user", "seed", "seed"]


@pytest.mark.parametrize(
    ("words", "models"),
    [
        ("", {"gpt-2", "resnet-50", "bert-large", "vgg-16"}),
        ("BERT t4", {"bert-large"}),
        ("v100 own", {"gpt-2", "resnet-50", "vgg-16"}),
        ("bert v100", set()),
        (".*", set()),
    ],
)
def test_a_search_finds_runs_that_hold_all_words(
    frame: pd.DataFrame, words: str, models: set[str]
) -> None:
    assert set(matching(frame, words)["model"]) == models


def test_filters_hold_together(frame: pd.DataFrame) -> None:
    assert set(matching(frame, origins=["seed"])["model"]) == {"bert-large", "vgg-16"}
    assert set(matching(frame, states=["outlier"])["model"]) == {"vgg-16"}
    assert not len(matching(frame, origins=["user"], accelerators=["T4"]))


def test_the_table_has_units_and_leaves_unknown_cells_empty(frame: pd.DataFrame) -> None:
    shown = shown_table(frame)
    assert shown["Step time, s"].tolist() == [0.123] * 4
    assert np.isnan(shown.loc[run("gpt-2", global_batch=None).content_hash, "Batch"])
    assert shown.loc[run("vgg-16").content_hash, "State"] == "Outlier"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum"])
def test_names_from_files_are_no_formulas_in_what_the_page_offers_as_csv(
    frame: pd.DataFrame, name: str
) -> None:
    shown = shown_table(frame.assign(model=name, accelerator=name, precision=name, source=name))
    for column in ("Model", "Accelerator", "Precision", "Source"):
        assert set(shown[column]) == {f"'{name}"}
    trace = Trace(format="csv", model=name, precision=name, gpu_name=name)
    assert table_of([trace])[["Model", "Precision"]].to_numpy().tolist() == [[f"'{name}"] * 2]


def test_only_what_was_changed_is_a_correction() -> None:
    row = {"model": "gpt-2", "precision": "", "global_batch": float("nan"), "step_time_s": 0.5}
    same = {"model": "gpt-2 ", "precision": "", "global_batch": None, "step_time_s": 0.5}
    assert changes_of(row, same) == {}
    assert changes_of(row, same | {"global_batch": 8.0}) == {"global_batch": 8.0}
    assert changes_of(row | {"global_batch": 8.0}, same) == {"global_batch": None}
    assert changes_of(row, same | {"step_time_s": 0.6}) == {"step_time_s": 0.6}


def test_a_run_is_called_by_model_accelerators_and_step(frame: pd.DataFrame) -> None:
    row = frame[frame["model"] == "resnet-50"].iloc[0]
    assert run_title(row) == "resnet-50 on 1 × V100-16GB, 0.123 s a step"


def edit_page() -> None:
    """Draw the panel of the first own run, and the last edits."""
    from advisor.store import Store  # noqa: PLC0415 - the script of a page of its own
    from advisor.ui.store_panel import edit_run, last_changes  # noqa: PLC0415 - same
    from advisor.ui.stored_runs import own_first  # noqa: PLC0415 - same

    with Store.open() as store:
        frame = own_first(store.profiles(state=None))
        edits = store.edits()
    edit_run(dict(frame.iloc[0]))
    last_changes(edits, frame)


@pytest.fixture
def page() -> AppTest:
    with Store.open() as store:
        store.add([run()])
    return AppTest.from_function(edit_page, default_timeout=60).run()


def states() -> dict[str, int]:
    with Store.open() as store:
        return store.profiles(state=None)["state"].value_counts().to_dict()


def test_an_outlier_is_out_of_use_until_that_is_undone(page: AppTest) -> None:
    button(page, "Mark as outlier").click().run()
    assert states() == {"outlier": 1}
    assert "Marked as an outlier: resnet-50" in text_of(page).replace("\\", "")
    button(page, "Undo").click().run()
    assert states() == {"active": 1}
    assert "Last changes" not in text_of(page)


def test_a_deleted_run_is_brought_back(page: AppTest) -> None:
    button(page, "Delete").click().run()
    assert states() == {"deleted": 1}
    assert "until that edit is undone below" in text_of(page)
    button(page, "Undo").click().run()
    assert states() == {"active": 1}


def test_a_correction_takes_the_place_of_the_run_and_is_undone(page: AppTest) -> None:
    key = run().content_hash
    page.number_input(key=f"new_step_time_s_{key}").set_value(0.2)
    button(page, "Save the correction").click().run()
    assert states() == {"active": 1, "superseded": 1}
    with Store.open() as store:
        assert store.profiles()["step_time_s"].tolist() == [0.2]
    button(page, "Undo").click().run()
    assert states() == {"active": 1}


def test_a_correction_of_nothing_is_said(page: AppTest) -> None:
    button(page, "Save the correction").click().run()
    assert page.session_state["store_problem"].what == "the correction changes nothing."
    assert states() == {"active": 1}


def test_the_page_filters_the_table_and_says_when_nothing_is_found(engine_copy: Path) -> None:
    with Store.open() as store:
        store.add([run("my-own-net")])
    test = open_page("profiles")
    test.text_input(key="store_words").set_value("my-own-net").run()
    assert list(test.dataframe[0].value["Model"]) == ["my-own-net"]
    assert list(test.dataframe[0].value["Whose"]) == ["Yours"]
    test.text_input(key="store_words").set_value("no such run").run()
    assert "No run of the store is like that" in text_of(test)


def test_a_refit_that_is_taken_opens_the_engine_again(
    engine: Engine, own_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Engine] = []

    def open_engine() -> Engine:
        opened.append(engine)
        return engine

    monkeypatch.setattr(state.Engine, "open", open_engine)
    for name in ("one", "another"):
        verdict = Verdict(made_at=dt.datetime.now(dt.UTC), taken=True, why="no worse",
                          data_hash=f"{own_data_dir} {name}")  # fmt: skip
        write_refits(own_data_dir, Refits(verdicts=(verdict,)))
        for _ in range(2):
            assert state.engine() is engine
    assert len(opened) == 2
