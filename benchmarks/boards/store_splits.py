"""Boards over the store by configuration and by scale, and of given rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.held_out import LARGE_SCALE_DEVICES, folds
from advisor.predictor.model import StepTimeModel
from advisor.predictor.training import training_table
from benchmarks.boards.leaks import one_of_each_run, without_board_rows
from benchmarks.boards.left_out import leave_sets_out
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.boards.store import scored
from benchmarks.boards.store_tables import scope, store_tables
from benchmarks.measured_runs import TIME_METRICS, measured_runs
from benchmarks.report import Row, at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from benchmarks.boards.context import Context
    from benchmarks.boards.store_tables import StoreTable

BARS: Final = {
    "store_config": {"median_ape": 10.0, "mape": 25.0},
    "store_scale": {"median_ape": 12.0, "mape": 20.0},
    "store_128": {"median_ape": 16.0, "mape": 25.0},
}
CONFIG_FOLDS: Final = 5
QUICK_FOLDS: Final = 2
SERIES: Final = ["source", "model", "accelerator"]
MOST_REFUSED: Final = 0.1


@BOARDS.register("store_config")
def store_config(context: Context) -> Iterator[Scored]:
    """Leave whole configurations out: source, model, accelerator, count and precision."""
    yield from _split("store_config", "New configurations", "one in five configurations", context,
                      lambda store: _configurations(store, quick=context.quick))  # fmt: skip


@BOARDS.register("store_scale")
def store_scale(context: Context) -> Iterator[Scored]:
    """Leave the largest cluster of every series out."""
    yield from _split("store_scale", "Larger clusters", "the largest cluster of a series", context,
                      lambda store: [_largest(store.frame)])  # fmt: skip


@BOARDS.register("store_128")
def store_128(context: Context) -> Iterator[Scored]:
    """Train on fewer than 128 accelerators, predict 128 and more."""
    yield from _split(
        "store_128", "From small clusters to large ones",
        "all clusters of 128 accelerators or more", context,
        lambda store: [store.frame["accelerators"].to_numpy(float) >= LARGE_SCALE_DEVICES],
    )  # fmt: skip


def _split(
    board: str,
    title: str,
    held_out: str,
    context: Context,
    sets: Callable[[StoreTable], list[np.ndarray]],
) -> Iterator[Scored]:
    stores = store_tables(context)
    left = leave_sets_out([(store.table, sets(store)) for store in stores])
    for store, one in zip(stores, left, strict=True):
        yield scored(board, title, held_out, store, one, BARS[board])


def _configurations(store: StoreTable, *, quick: bool) -> list[np.ndarray]:
    return folds(store.table.config, CONFIG_FOLDS)[: QUICK_FOLDS if quick else None]


def _largest(frame: pd.DataFrame) -> np.ndarray:
    """Return which runs are on the largest cluster of a series of several."""
    counts = frame.groupby(frame[SERIES].astype(str).agg("|".join, axis=1))["accelerators"]
    largest = frame["accelerators"] == counts.transform("max")
    return (largest & (counts.transform("min") < counts.transform("max"))).to_numpy()


@ROWS_BOARDS.register("store")
def store_rows(context: Context, raw: pd.DataFrame) -> Iterator[Scored]:
    """Rows of the user's in the columns of the measured runs, the store as training."""
    in_scope = raw["metric"].isin(TIME_METRICS)
    given = measured_runs(raw)
    asked = training_table(given, context.catalog, plausible_only=False)
    known = without_board_rows(one_of_each_run(context.all_runs, context.catalog), given,
                               context.catalog)  # fmt: skip
    _, table = scope(known, context)
    model = StepTimeModel.fit(table.jobs, table.step_s, table.config, table.source)
    prediction = model.predict(asked.jobs)
    refused = int(in_scope.sum()) - len(asked.rows)
    most = MOST_REFUSED * float(in_scope.sum())
    width = np.exp(2 * prediction.log_half_width) if len(asked.rows) else np.array([np.nan])
    held = HeldOut(asked.step_s, prediction.step_s, prediction.log_sigma)
    yield Scored(
        name="store",
        title="Rows of the user's",
        held_out="every run of the file",
        runs_of="the user's file",
        held=held if len(asked.rows) else None,
        beside=[
            Row("store.median_width_90", float(np.median(width)), "upper / lower bound"),
            at_most("store.n_refused", float(refused), "rows", most),
            Row("store.n_out_of_scope", float((~in_scope).sum()), "rows"),
        ],
    )
