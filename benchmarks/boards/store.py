"""Boards over the store at large: a model, or an accelerator, held out; the choice of one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.boards.left_out import LeftOut, leave_each_out
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import Scored, points
from benchmarks.boards.store_tables import store_tables, tested_labels
from benchmarks.report import Row, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmarks.boards.context import Context
    from benchmarks.boards.store_tables import StoreTable

BARS: Final = {
    "store_model": {"median_ape": 18.0, "mape": 32.0},
    "store_model_lm": {"median_ape": 9.0, "mape": 15.0},
    "store_gpu": {"median_ape": 20.0, "mape": 36.0},
}
# Fewest runs of what is tested; timm has a run or two of each of 838 networks, which only train.
FEWEST: Final = {"model": 20, "accelerator": 30}
NOT_TESTED: Final = {"model": "timm", "accelerator": ""}
NEAR_BEST: Final = 1.1
BEST_BAR: Final = 0.94


@BOARDS.register("store_model")
def store_model(context: Context) -> Iterator[Scored]:
    """Leave one model out (models with at least 20 runs; timm's only in training)."""
    for store, left in left_out_each(context, "model"):
        yield scored("store_model", "New models", "one model, under all its names", store, left,
                     BARS["store_model"])  # fmt: skip


@BOARDS.register("store_model_lm")
def store_model_lm(context: Context) -> Iterator[Scored]:
    """Leave one language model out."""
    for store, left in left_out_each(context, "model"):
        language = (store.frame["family"] == "language").to_numpy()[left.rows]
        yield scored("store_model_lm", "New language models",
                     "one language model, under all its names", store, left.take(language),
                     BARS["store_model_lm"])  # fmt: skip


@BOARDS.register("store_gpu")
def store_gpu(context: Context) -> Iterator[Scored]:
    """Leave one accelerator type out (types with at least 30 runs)."""
    for store, left in left_out_each(context, "accelerator"):
        yield scored("store_gpu", "New accelerators",
                     "one type of accelerator, under all its names", store, left,
                     BARS["store_gpu"])  # fmt: skip


@BOARDS.register("store_choice")
def store_choice(context: Context) -> Iterator[Scored]:
    """Choose the fastest accelerator for a model that was left out, by throughput of each."""
    for store, left in left_out_each(context, "model"):
        batch = store.table.jobs.global_batch[left.rows]
        asked = store.frame.iloc[left.rows].assign(
            measured=batch / left.measured, predicted=batch / left.predicted
        )
        share, regret, number = _choices(asked)
        name = f"{store.prefix}store_choice"
        yield Scored(
            name=name,
            title=f"Choice of an accelerator for a new model, {store.which}",
            held_out="one model, under all its names",
            runs_of=store.runs_of,
            held=None,
            beside=[
                at_least(f"{name}.within_10", share, "share", BEST_BAR),
                Row(f"{name}.mean_regret", 100 * regret, "%"),
                Row(f"{name}.n", float(number), "choices"),
            ],
        )


@functools.lru_cache(maxsize=2)
def left_out_each(context: Context, column: str) -> tuple[tuple[StoreTable, LeftOut], ...]:
    """Return every table of the store with predictions of each ``model`` or ``accelerator``.

    All boards of one column share them: the fits take minutes.
    """
    found = []
    for store in store_tables(context):
        labels, tested = tested_labels(
            store.frame, column, fewest=FEWEST[column], not_tested=NOT_TESTED[column]
        )
        left = leave_each_out(store.table, labels.to_numpy(str), store.things[column], tested,
                              quick=context.quick)  # fmt: skip
        found.append((store, left))
    return tuple(found)


def scored(
    board: str, title: str, held_out: str, store: StoreTable, left: LeftOut, bars: dict[str, float]
) -> Scored:
    """Return a board of the store; its predictions where the runs ship with the project."""
    shown = None
    if store.prefix:
        shown = points(store.frame.iloc[left.rows], left.held, left.difficulty)
    return Scored(
        name=f"{store.prefix}{board}",
        title=f"{title}, {store.which}",
        held_out=held_out,
        runs_of=store.runs_of,
        held=left.held,
        bars=bars,
        points=shown,
    )


def _choices(asked: pd.DataFrame) -> tuple[float, float, int]:
    """Return the share of choices within 10 % of the best, their mean regret, and how many.

    A choice is between accelerators that the same source measured the same model on, at equal
    count and precision, each at its fastest batch.
    """
    keys = ["source", "model", "accelerators", "precision"]
    rows = asked.sort_values("predicted").groupby([*keys, "accelerator"]).tail(1)
    regrets = []
    for _, group in rows.groupby(keys):
        if len(group) > 1:
            measured = group["measured"].to_numpy(float)
            chosen = measured[int(group["predicted"].to_numpy(float).argmax())]
            regrets.append(float(measured.max() / chosen))
    found = np.array(regrets)
    return float((found <= NEAR_BEST).mean()), float(1 - (1 / found).mean()), len(found)
