"""Stored boards of accuracy: what the benchmark writes, and the tables made of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from advisor.advice.board_scores import board_table, scores_by, share_inside, track_record
from advisor.advice.boards import (
    ACCURACY_DIR,
    POINT_COLUMNS,
    Board,
    Figure,
    Stamp,
    read_boards,
    read_points,
    write_board,
)
from advisor.catalog import load
from advisor.core.errors import StoreError
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan

STAMP = Stamp(version="1", data_hash="a", code_hash="b")
POINTS = pd.DataFrame(
    {
        "source": "one", "model": ["a", "a", "b", "b"], "family": ["cnn", "cnn", "vision", "cnn"],
        "accelerator": "V100", "accelerators": [1, 2, 4, 8],
        "group": ["new model", "new model", "seen", "new model"],
        "measured_s": [1.0, 2.0, 4.0, 1.0], "predicted_s": [1.1, 1.0, 4.0, 1.3],
        "low_s": [0.9, 0.5, 3.0, 1.1], "high_s": [1.3, 1.5, 5.0, 1.6],
    }
)  # fmt: skip


def board(name: str = "one", *, points: bool = True) -> Board:
    return Board(
        name=name, title="Models", held_out="one model", runs_of="us", stamp=STAMP, points=points,
        measured_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        figures=(
            Figure(name="median_ape", value=27.8, unit="%", bar="<= 18", holds=False),
            Figure(name="coverage_90", value=0.891, unit="share", bar="0.87 to 0.93"),
            Figure(name="n", value=8657, unit="rows"),
        ),
    )  # fmt: skip


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_board(board(), POINTS, tmp_path)
    write_board(board("two", points=False), None, tmp_path)
    first, second = read_boards(tmp_path).boards
    assert (first, second.name) == (board(), "two")
    pd.testing.assert_frame_equal(read_points(first, tmp_path), POINTS, check_dtype=False)
    assert read_points(second, tmp_path).empty
    assert not (tmp_path / "two.csv").exists()


def test_a_board_measured_again_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_board(board(name), POINTS, tmp_path)
    write_board(board("one"), POINTS.head(1), tmp_path)
    boards = read_boards(tmp_path).boards
    assert [one.name for one in boards] == ["one", "two"]
    assert len(read_points(boards[0], tmp_path)) == 1


def test_nothing_stored_is_no_error_and_a_damaged_file_is(tmp_path: Path) -> None:
    assert read_boards(tmp_path).boards == ()
    (tmp_path / "boards.json").write_text('{"boards": [{"name": 1}]}')
    with pytest.raises(StoreError, match=r"boards.json.*benchmarks.accuracy --store"):
        read_boards(tmp_path)
    with pytest.raises(StoreError, match=r"one.csv"):
        read_points(board(), tmp_path)


def test_boards_of_other_runs_or_code_are_outdated(tmp_path: Path) -> None:
    write_board(board(), POINTS, tmp_path)
    boards = read_boards(tmp_path)
    assert not boards.outdated(STAMP)
    assert boards.outdated(STAMP.model_copy(update={"data_hash": "c"}))
    assert boards.outdated(STAMP.model_copy(update={"code_hash": "c"}))
    today = Stamp.today(load(("snapshot",)))
    assert today == Stamp.today(load(("snapshot",)))
    assert boards.outdated(today)


def test_the_stored_boards_are_whole_and_their_figures_are_those_of_their_points() -> None:
    boards = read_boards().boards
    assert {one.name for one in boards} >= {"vtrain_single", "vtrain_multi"}
    assert {path.stem for path in ACCURACY_DIR.glob("*.csv")} == {
        one.name for one in boards if one.points
    }
    for one in boards:
        assert one.held_out
        assert one.title
        assert one.figures
        # A board of a choice, or of own runs, has other figures than errors.
        if one.figure("mape") is None:
            assert one.name.endswith("store_choice") or one.name.startswith("calibration_")
            continue
        for name in ("median_ape", "mape", "coverage_90", "n"):
            assert one.figure(name) is not None
        if not one.points:
            continue
        assert one.name.startswith("shipped.")  # other runs are not ours to pass on
        points = read_points(one)
        assert tuple(points.columns) == POINT_COLUMNS
        assert (points["low_s"] <= points["predicted_s"]).all()
        assert (points["predicted_s"] <= points["high_s"]).all()
        off = 100 * np.abs(points["predicted_s"] / points["measured_s"] - 1)
        inside = points["measured_s"].between(points["low_s"], points["high_s"])
        one_run = 1.1 / len(points)  # four digits may move one across a bound
        for name, value, within in (
            ("median_ape", off.median(), 0.05), ("mape", off.mean(), 0.1),
            ("coverage_90", inside.mean(), max(0.002, one_run)), ("n", len(points), 0),
        ):  # fmt: skip
            figure = one.figure(name)
            assert figure is not None
            assert figure.value == pytest.approx(value, abs=within)


def test_a_bar_that_fails_is_said_to_fail() -> None:
    row = board_table([board()]).iloc[0]
    assert row["bars"] == "median ≤ 18 %: fails; coverage 0.87–0.93: holds"
    assert (row["fails"], row["runs"], row["median_ape"]) == (1, 8657, 27.8)
    assert row["coverage"] == pytest.approx(89.1)
    assert np.isnan(row["mape"])


def test_errors_by_group_are_those_of_its_rows() -> None:
    scores = scores_by(POINTS, "group")
    assert scores.index.tolist() == ["new model", "seen"]
    new = scores.loc["new model"]
    assert new["runs"] == 3
    assert new["median_ape"] == pytest.approx(30)
    assert new["mape"] == pytest.approx((10 + 50 + 30) / 3)
    assert new["bias"] == pytest.approx((10 - 50 + 30) / 3)
    assert new["coverage"] == pytest.approx(100 / 3)
    assert scores.loc["seen", "coverage"] == 100


def test_finished_runs_stand_beside_their_predictions() -> None:
    with Store.open() as store:
        assert track_record(store.plans()).empty
        assert share_inside(track_record(store.plans())) is None
        saved = store.save_plan(plan(), WORKLOAD, name="first")
        store.finish_plan(saved.id, hours=saved.hours.value, cost_usd=saved.cost_usd.high * 2)
        record = track_record(store.plans())
    assert record["quantity"].tolist() == ["Time", "Bill"]
    assert record["inside"].tolist() == [True, False]
    assert record["plan"].tolist() == ["first", "first"]
    assert share_inside(record) == 0.5
    assert record.loc[0, "measured"] == record.loc[0, "predicted"]
