"""Tables of measured accuracy: the boards, their errors by group, and the user's own record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from scipy.stats import binom

from advisor.advice.saved import outcomes
from advisor.predictor.hardware import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from advisor.advice.boards import Board, Figure
    from advisor.catalog import Catalog
    from advisor.store import SavedPlan

    Floats = NDArray[np.float64]

BARS: Final = {"median_ape": "median", "mape": "mean", "coverage_90": "coverage"}
UNKNOWN_FAMILY: Final = "Other"
LEVELS: Final = (90, 80)  # of the intervals of a board [%]


def board_table(boards: Iterable[Board]) -> pd.DataFrame:
    """Return one row per board.

    Returns
    -------
    DataFrame
        ``title``, ``held_out``, ``runs_of``, ``runs``, ``median_ape`` and ``mape`` [%],
        ``coverage`` [%], ``bars`` in words, ``fails`` (how many bars do not hold); NaN where a
        board has no such figure.
    """
    rows = [
        {
            "title": board.title,
            "held_out": board.held_out,
            "runs_of": board.runs_of,
            "runs": _value(board.figure("n")),
            "median_ape": _value(board.figure("median_ape")),
            "mape": _value(board.figure("mape")),
            "coverage": 100 * _value(board.figure("coverage_90")),
            "bars": "; ".join(_bars(board)),
            "fails": sum(not figure.holds for figure in board.figures),
        }
        for board in boards
    ]
    columns = ["title", "held_out", "runs_of", "runs", "median_ape", "mape", "coverage", "bars",
               "fails"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _value(figure: Figure | None) -> float:
    return float("nan") if figure is None else figure.value


def _bars(board: Board) -> list[str]:
    said = []
    for name, word in BARS.items():
        figure = board.figure(name)
        if figure is not None and figure.bar is not None:
            bar = figure.bar.replace("<=", "≤").replace(" to ", "–")
            said.append(f"{word} {bar}{' %' if figure.unit == '%' else ''}: {_verdict(figure)}")
    return said


def _verdict(figure: Figure) -> str:
    return "holds" if figure.holds else "fails"


def coverage_against_nominal(boards: Iterable[Board]) -> pd.DataFrame:
    """Return how many measurements the intervals of each board held, against what they promise.

    Returns
    -------
    DataFrame
        One row per board and level: ``title``, ``held_out``, ``runs``, ``nominal`` and
        ``covered`` [%], ``low`` and ``high`` [%], the range that chance alone explains.
    """
    rows = [
        {"title": board.title, "held_out": board.held_out, "runs": runs.value, "nominal": level,
         "covered": 100 * covered.value}
        for board in boards
        for level in LEVELS
        if (covered := board.figure(f"coverage_{level}")) and (runs := board.figure("n"))
    ]  # fmt: skip
    columns = ["title", "held_out", "runs", "nominal", "covered"]
    coverage = pd.DataFrame(rows, columns=columns)
    low, high = chance_range(coverage["nominal"].to_numpy(float), coverage["runs"].to_numpy(float))
    return coverage.assign(low=low, high=high)


def chance_range(nominal: ArrayLike, runs: ArrayLike) -> tuple[Floats, Floats]:
    """Return the coverage that 95 of 100 boards of right intervals would have [%].

    Runs are counted as independent, which those of one publication are not quite: the range is
    the narrowest that can be asked for.

    Parameters
    ----------
    nominal : array_like
        What the intervals promise to hold [%].
    runs : array_like
        Measurements of the board, at least 1.
    """
    count, share = np.asarray(runs, float), np.asarray(nominal, float) / 100
    low, high = binom.ppf([[0.025], [0.975]], np.atleast_1d(count), np.atleast_1d(share))
    return 100 * low / count, 100 * high / count


def with_hardware(points: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return the predictions of a board with the family of each accelerator, as in charts."""
    family = facts_of(catalog, points["accelerator"])["family"]
    return points.assign(hardware=family.astype(object).fillna(UNKNOWN_FAMILY).astype(str))


def scores_by(points: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return errors and coverage of held-out predictions by a column, most runs first.

    Returns
    -------
    DataFrame
        Index of the values of `by`; ``runs``, ``median_ape`` and ``mape`` [%], ``bias`` [%]
        (mean of predicted ÷ measured − 1), ``coverage`` of the 90 % interval [%].
    """
    off = 100 * (points["predicted_s"] / points["measured_s"] - 1)
    inside = points["measured_s"].between(points["low_s"], points["high_s"])
    frame = pd.DataFrame({"ape": off.abs(), "off": off, "inside": 100.0 * inside, by: points[by]})
    scores = frame.groupby(by, observed=True).agg(
        runs=("ape", "size"),
        median_ape=("ape", "median"),
        mape=("ape", "mean"),
        bias=("off", "mean"),
        coverage=("inside", "mean"),
    )
    return scores.sort_values("runs", ascending=False, kind="stable")


def track_record(plans: Iterable[SavedPlan]) -> pd.DataFrame:
    """Return what finished runs of saved plans took, beside what was predicted for them.

    Returns
    -------
    DataFrame
        One row per recorded quantity: ``plan``, ``recorded_at``, ``quantity``, ``unit``,
        ``predicted``, ``low``, ``high``, ``measured`` and ``inside``; empty without finished
        runs.
    """
    rows = [
        {
            "plan": saved.name,
            "recorded_at": run.recorded_at,
            "quantity": outcome.name,
            "unit": outcome.predicted.unit,
            "predicted": outcome.predicted.value,
            "low": outcome.predicted.low,
            "high": outcome.predicted.high,
            "measured": outcome.measured,
            "inside": outcome.inside,
        }
        for saved in plans
        for run in saved.finished
        for outcome in outcomes(saved, run)
    ]
    columns = ["plan", "recorded_at", "quantity", "unit", "predicted", "low", "high", "measured",
               "inside"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def record_scores(record: pd.DataFrame) -> pd.DataFrame:
    """Return the errors and coverage of a track record by quantity, as `scores_by` does."""
    names = {"predicted": "predicted_s", "measured": "measured_s", "low": "low_s", "high": "high_s"}
    return scores_by(record.rename(columns=names), "quantity")


def share_inside(record: pd.DataFrame) -> float | None:
    """Return the share of a track record inside its intervals, None without any."""
    return float(np.mean(record["inside"].to_numpy(bool))) if len(record) else None
