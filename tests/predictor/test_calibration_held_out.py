"""Own runs of a model that no fit has seen move its predictions towards what is measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.boards.context import Shipped
from benchmarks.boards.own_runs import ELSEWHERE, OTHER, SAME, calibration, held_out_questions

SOURCES = ("gavel", "lambda-tf", "zeus")
MODELS = ["resnet-50"]


@pytest.fixture(scope="module")
def asked() -> pd.DataFrame:
    """Questions about one model, answered by a predictor fitted once to the other networks."""
    shipped = Shipped()
    runs = shipped.shipped_runs
    few = runs[runs["source"].isin(SOURCES)].reset_index(drop=True)
    return held_out_questions(shipped, MODELS, runs=few, processes=1)


def errors(asked: pd.DataFrame, kind: str) -> pd.Series:
    """Return the mean |log(predicted ÷ measured)| by the number of own runs."""
    off = np.abs(np.log(asked["predicted_s"] / asked["measured_s"]))
    return off[asked["kind"] == kind].groupby(asked["own_runs"]).mean()


def test_one_run_moves_the_prediction_towards_it_and_three_runs_more(asked: pd.DataFrame) -> None:
    found = errors(asked, SAME)
    assert found[3] < found[1] < found[0]


def test_it_also_helps_on_other_accelerators(asked: pd.DataFrame) -> None:
    found = errors(asked, OTHER)
    assert found[1] < found[0]


def test_intervals_narrow_and_most_measured_steps_stay_inside(asked: pd.DataFrame) -> None:
    width = np.log(asked["high_s"] / asked["low_s"]).groupby(asked["own_runs"]).mean()
    assert width.is_monotonic_decreasing
    own = asked[(asked["own_runs"] > 0) & (asked["kind"] != ELSEWHERE)]
    assert own["measured_s"].between(own["low_s"], own["high_s"]).mean() >= 0.8


def test_the_report_has_a_bar_where_more_runs_must_help(asked: pd.DataFrame) -> None:
    rows = {row.name: row for row in calibration(asked)}
    one = rows[f"calibration.{SAME}.mape.1_runs"]
    assert one.bar == f"< {rows[f'calibration.{SAME}.mape.0_runs'].value:.4g}"
    assert one.holds
    assert rows[f"calibration.{OTHER}.coverage_90.3_runs"].bar == ">= 0.85"
    assert rows[f"calibration.{SAME}.n"].value > 0
