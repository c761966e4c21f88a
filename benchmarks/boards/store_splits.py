"""Boards over the store by configuration and by scale, the choice of an accelerator, given rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from advisor.predictor.held_out import LARGE_SCALE_DEVICES, folds
from advisor.predictor.model import StepTimeModel
from advisor.predictor.training import training_table
from benchmarks.boards.leaks import one_of_each_run, without_board_rows
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.scoring import HeldOut, Scored, points
from benchmarks.boards.store import leave_each_out, named, scope, tested_labels
from benchmarks.measured_runs import TIME_METRICS, measured_runs
from benchmarks.report import Row, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.training import TrainingTable
    from benchmarks.boards.context import Context

BARS: Final = {
    "store_config": {"median_ape": 10.0, "mape": 25.0},
    "store_model_lm": {"median_ape": 9.0, "mape": 15.0},
    "store_scale": {"median_ape": 12.0, "mape": 20.0},
    "store_128": {"median_ape": 16.0, "mape": 25.0},
}
CONFIG_FOLDS: Final = 5
FEWEST_OF_A_MODEL: Final = 20
SERIES: Final = ["source", "model", "accelerator"]
NEAR_BEST: Final = 1.1
BEST_BAR: Final = 0.94
MOST_REFUSED: Final = 0.1


@BOARDS.register("store_config")
def store_config(context: Context) -> Iterator[Scored]:
    """Leave whole configurations out: source, model, accelerator, count and precision."""
    for prefix, frame, table in _tables(context):
        masks = folds(table.config, CONFIG_FOLDS)
        yield _scored(f"{prefix}store_config", "New configurations", "one in five configurations",
                      frame, table, masks)  # fmt: skip


@BOARDS.register("store_scale")
def store_scale(context: Context) -> Iterator[Scored]:
    """Leave the largest cluster of every series out."""
    for prefix, frame, table in _tables(context):
        counts = frame.groupby(frame[SERIES].astype(str).agg("|".join, axis=1))["accelerators"]
        largest = frame["accelerators"] == counts.transform("max")
        several = counts.transform("min") < counts.transform("max")
        yield _scored(f"{prefix}store_scale", "Larger clusters", "the largest cluster of a series",
                      frame, table, [(largest & several).to_numpy()])  # fmt: skip


@BOARDS.register("store_128")
def store_128(context: Context) -> Iterator[Scored]:
    """Train on fewer than 128 accelerators, predict 128 and more."""
    for prefix, frame, table in _tables(context):
        large = frame["accelerators"].to_numpy(float) >= LARGE_SCALE_DEVICES
        yield _scored(f"{prefix}store_128", "From small clusters to large ones",
                      "all clusters of 128 accelerators or more",
                      frame, table, [large])  # fmt: skip


@BOARDS.register("store_model_lm")
def store_model_lm(context: Context) -> Iterator[Scored]:
    """Leave one language model out."""
    for prefix, frame, table in _tables(context):
        labels, tested = tested_labels(frame, "model", fewest=FEWEST_OF_A_MODEL, not_tested="timm")
        language = set(frame.loc[frame["family"] == "language", "model"])
        things = frame["model"].map({name: named(name, "model", context)
                                     for name in frame["model"].unique()})  # fmt: skip
        left = leave_each_out(table, labels.to_numpy(str), things.to_numpy(str),
                              [name for name in tested if name in language])  # fmt: skip
        yield Scored(
            name=f"{prefix}store_model_lm",
            title=f"New language models, {_which(prefix)}",
            held_out="one language model, under all its names",
            runs_of=_runs(prefix),
            held=left.held,
            bars=BARS["store_model_lm"],
            points=points(frame[left.scored], left.held, left.difficulty) if prefix else None,
        )


@BOARDS.register("store_choice")
def store_choice(context: Context) -> Iterator[Scored]:
    """Choose the fastest accelerator for a model that was left out, by throughput of each."""
    for prefix, frame, table in _tables(context):
        labels, tested = tested_labels(frame, "model", fewest=FEWEST_OF_A_MODEL, not_tested="timm")
        things = frame["model"].map({name: named(name, "model", context)
                                     for name in frame["model"].unique()})  # fmt: skip
        left = leave_each_out(
            table, labels.to_numpy(str), things.to_numpy(str), tested, spreads=False
        )
        asked = frame[left.scored].assign(
            measured=table.jobs.global_batch[left.scored] / left.held.measured,
            predicted=table.jobs.global_batch[left.scored] / left.held.predicted,
        )
        share, regret, number = _choices(asked)
        name = f"{prefix}store_choice"
        yield Scored(
            name=name,
            title=f"Choice of an accelerator for a new model, {_which(prefix)}",
            held_out="one model, under all its names",
            runs_of=_runs(prefix),
            held=None,
            beside=[
                at_least(f"{name}.within_10", share, "share", BEST_BAR),
                Row(f"{name}.mean_regret", 100 * regret, "%"),
                Row(f"{name}.n", float(number), "choices"),
            ],
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


def _tables(context: Context) -> Iterator[tuple[str, pd.DataFrame, TrainingTable]]:
    for prefix, runs in (("", context.all_runs), ("shipped.", context.shipped_runs)):
        if not (context.quick and not prefix):
            yield prefix, *scope(one_of_each_run(runs, context.catalog), context)


def _scored(
    name: str, title: str, held_out: str, frame: pd.DataFrame, table: TrainingTable,
    masks: list[np.ndarray],
) -> Scored:  # fmt: skip
    predictions = Parallel(n_jobs=-1)(delayed(_predict)(table, held) for held in masks)
    predicted, sigma = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    difficulty = np.zeros(len(frame), dtype=int)
    for held, (step_s, spread, hard) in zip(masks, predictions, strict=True):
        predicted[held], sigma[held], difficulty[held] = step_s, spread, hard
    asked = np.logical_or.reduce(masks)
    held_out_rows = HeldOut(table.step_s[asked], predicted[asked], sigma[asked])
    prefix, _, board = name.rpartition(".")
    return Scored(
        name=name,
        title=f"{title}, {_which(prefix)}",
        held_out=held_out,
        runs_of=_runs(prefix),
        held=held_out_rows,
        bars=BARS[board],
        points=points(frame[asked], held_out_rows, difficulty[asked]) if prefix else None,
    )


def _predict(table: TrainingTable, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    known = table.take(~held)
    model = StepTimeModel.fit(known.jobs, known.step_s, known.config, known.source)
    prediction = model.predict(table.jobs.take(held))
    return prediction.step_s, prediction.log_sigma, prediction.difficulty


def _which(prefix: str) -> str:
    return "shipped runs" if prefix else "all public runs"


def _runs(prefix: str) -> str:
    return "runs shipped with the project" if prefix else "all public runs"
