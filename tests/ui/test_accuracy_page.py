"""The page Accuracy: boards, their dots, the user's own record."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ui_apps import open_page, text_of

from advisor.advice import boards as stored_boards
from advisor.advice.board_scores import coverage_against_nominal
from advisor.advice.boards import Board, Figure, Stamp, write_board
from advisor.advice.refit_guard import Score
from advisor.advice.refits import Refits, Skipped, Verdict, write_refits
from advisor.catalog import load
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan
from advisor.ui.charts.coverage import draw_coverage
from advisor.ui.charts.predicted_measured import MOST_DOTS, draw_scatter, hover_texts, scatter_data
from advisor.ui.theme import LIGHT


def points(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    measured = np.exp(rng.normal(size=count))
    predicted = measured * np.exp(0.3 * rng.normal(size=count))
    return pd.DataFrame(
        {
            "source": "here", "model": "ResNet-50", "family": "cnn",
            "accelerator": np.resize(["V100", "A100-80GB", "no such device"], count),
            "accelerators": 8, "group": np.resize(["new model", "seen"], count),
            "measured_s": measured, "predicted_s": predicted, "low_s": predicted / 1.5,
            "high_s": predicted * 1.5,
        }
    )  # fmt: skip


def board(name: str, title: str, stamp: Stamp, *, runs: int = 30, covered: float = 0.891,
          with_points: bool = False) -> Board:  # fmt: skip
    figures = (
        Figure(name="median_ape", value=27.8, unit="%", bar="<= 18", holds=False),
        Figure(name="mape", value=42.7, unit="%"),
        Figure(name="coverage_90", value=covered, unit="share", bar="0.87 to 0.93"),
        Figure(name="n", value=runs, unit="rows"),
    )
    return Board(
        name=name, title=title, held_out="one model", runs_of="us", stamp=stamp,
        measured_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), figures=figures, points=with_points,
    )  # fmt: skip


def store_boards(folder: Path, stamp: Stamp) -> None:
    with_dots = board("shipped.store_model", "New models", stamp, with_points=True)
    write_board(with_dots, points(30), folder)
    write_board(board("vtrain", "Large jobs", stamp), None, folder)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that the page reads its boards from."""
    monkeypatch.setattr(stored_boards, "ACCURACY_DIR", tmp_path)
    return tmp_path


def test_boards_show_their_figures_and_bars_that_fail(folder: Path) -> None:
    store_boards(folder, Stamp.today(load(("snapshot",))))
    test = open_page("accuracy")
    said = text_of(test)
    assert "2026-01-02" in said
    assert "another version" not in said
    table = test.dataframe[0].value
    assert table["Board"].tolist() == ["New models", "Large jobs"]
    assert table["Median off"].tolist() == [27.8, 27.8]
    assert table["Inside 90 %"].tolist() == pytest.approx([89.1, 89.1])
    assert table["Bars"].tolist() == ["✗ 1 fails", "✗ 1 fails"]
    assert "median ≤ 18 %: fails" in table["Bars in detail"][0]


def test_errors_are_by_what_was_new_family_or_accelerator(folder: Path) -> None:
    store_boards(folder, Stamp.today(load(("snapshot",))))
    test = open_page("accuracy")
    assert test.dataframe[1].value["What was new"].tolist() == ["New model", "Seen"]
    test.radio(key="breakdown").set_value("Accelerator").run()
    assert set(test.dataframe[1].value["Accelerator"]) == {"Volta, Turing", "Ampere", "Other"}
    assert test.dataframe[1].value["Runs"].sum() == 30


def test_boards_of_other_code_or_runs_carry_a_caution(folder: Path) -> None:
    store_boards(folder, Stamp(version="0", data_hash="", code_hash=""))
    assert "Some boards were measured with other runs" in text_of(open_page("accuracy"))


def test_without_boards_and_runs_the_page_says_what_to_do(folder: Path) -> None:
    said = text_of(open_page("accuracy"))
    assert "No board has been measured yet" in said
    assert "No run has come back yet" in said


def test_a_damaged_board_is_said(folder: Path) -> None:
    (folder / "boards.json").write_text("{")
    assert "the stored boards cannot be read" in text_of(open_page("accuracy"))


def test_finished_runs_are_counted_with_their_intervals(folder: Path) -> None:
    with Store.open() as store:
        saved = store.save_plan(plan(), WORKLOAD, name="*first*")
        bill = saved.cost_usd
        store.finish_plan(saved.id, hours=saved.hours.value, cost_usd=bill.high * 2)
    test = open_page("accuracy")
    assert "**1 of 2** recorded figures lie inside" in text_of(test)
    (scores,) = [one.value for one in test.dataframe if "Median off" in one.value]
    assert scores["Quantity"].tolist() == ["Bill", "Time"]
    assert scores["Median off"].tolist() == [pytest.approx(100 - 50 * bill.value / bill.high), 0.0]
    (record,) = [one.value for one in test.dataframe if "Plan" in one.value]
    assert record["Plan"].tolist() == ["*first*", "*first*"]
    assert record["Inside"].tolist() == ["✓ inside", "✗ outside"]


def test_many_runs_are_drawn_as_an_even_sample() -> None:
    frame = points(3 * MOST_DOTS).assign(hardware="Kepler")
    data = scatter_data(frame)
    assert (len(data.dots), data.total) == (MOST_DOTS, 3 * MOST_DOTS)
    assert data.families == ["Other"]
    logs = np.log10(frame[["measured_s", "predicted_s"]].to_numpy())
    assert data.range[0] < logs.min() < logs.max() < data.range[1]
    pd.testing.assert_frame_equal(data.dots, scatter_data(frame).dots)


def test_every_dot_says_what_it_is_and_markup_is_escaped() -> None:
    frame = points(3).assign(hardware=["Volta", "Ampere", "Other"], model="<b>x</b>")
    data = scatter_data(frame)
    assert data.families == ["Ampere", "Volta", "Other"]
    text = hover_texts(data.dots)[0]
    assert "&lt;b>x&lt;/b>" in text
    assert "8 × V100" in text
    dots = draw_scatter(data, LIGHT).data[-1]
    assert dots.x.tolist() == frame["measured_s"].tolist()
    assert dots.y.tolist() == frame["predicted_s"].tolist()
    assert list(dots.marker.color) == [LIGHT.family(name) for name in frame["hardware"]]


def test_refits_on_own_runs_are_told_with_their_reason(folder: Path, own_data_dir: Path) -> None:
    assert "None yet" in text_of(open_page("accuracy"))
    scores = tuple(
        Score(held_out="models", whose=whose, runs=40, median_before=20.0, median_after=25.0,
              mean_before=30.0, mean_after=31.0)
        for whose in ("shipped", "own")
    )  # fmt: skip
    verdict = Verdict(
        made_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC), taken=False, own_runs=7, new_runs=5,
        why="it predicts <b>worse</b>", scores=scores, skipped=(Skipped(run="a run", why="slip"),),
    )  # fmt: skip
    write_refits(own_data_dir, Refits(verdicts=(verdict,)))
    test = open_page("accuracy")
    (table,) = [one.value for one in test.dataframe if "Verdict" in one.value]
    row = table.iloc[0]
    assert row["Verdict"] == "✗ not taken"
    assert (row["Own runs"], row["New"]) == (7, 5)
    assert "your runs of new models off by 20.0 → 25.0" in row["Held out"]
    assert row["Left aside"] == "a run: slip"


def test_coverage_stands_against_what_intervals_promise(folder: Path) -> None:
    store_boards(folder, Stamp.today(load(("snapshot",))))
    test = open_page("accuracy")
    assert "2 of 2 within the band that chance" in text_of(test)
    assert test.radio(key="level").options == ["90 %"]


def test_the_band_of_chance_is_drawn_under_the_boards() -> None:
    stamp = Stamp.today(load(("snapshot",)))
    boards = [board("few", "Few", stamp, runs=30, covered=0.8),
              board("many", "Many", stamp, runs=9000, covered=0.8)]  # fmt: skip
    coverage = coverage_against_nominal(boards)
    assert coverage["nominal"].tolist() == [90, 90]
    within = coverage["covered"].between(coverage["low"], coverage["high"])
    assert within.tolist() == [True, False]  # 24 of 30 can be chance, 7,200 of 9,000 cannot
    dots = draw_coverage(coverage, 90, LIGHT).data[-1]
    assert dots.x.tolist() == [30, 9000]
    assert dots.y.tolist() == [80, 80]
    assert "80.0 % of 9,000 inside the 90 % interval" in dots.hovertext[1]
