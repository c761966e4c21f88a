"""Boards over the store at large: a model, or an accelerator, held out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from advisor import zoo
from advisor.catalog.names import spelled
from advisor.predictor.held_out import folds
from advisor.predictor.model import StepTimeModel
from advisor.predictor.point import PointModel
from advisor.predictor.training import TrainingTable, training_table
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import HeldOut, Scored, points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Context, Shipped

LEFT_OUT: Final = ("moe", "recommender", "speech")
MOST_SIA_RUNS: Final = 150
BARS: Final = {
    "store_model": {"median_ape": 18.0, "mape": 32.0},
    "store_gpu": {"median_ape": 20.0, "mape": 36.0},
}
COVERAGE_FOLDS: Final = 10
# What neither spelling nor the zoo unites: benchmarks with a name of their own, and how long
# Detectron2 trains one (1x, 3x, 100ep), which is no part of a step.
ALSO_CALLED: Final = {"RetinaNet (SSD) 800px": "RetinaNet", "inception3": "InceptionV3"}
SCHEDULE: Final = re.compile(r"_(?:\dx|\d+ep)(?:_LSJ)?$")
THINGS: Final = {
    "model": ("model", "models"),
    "accelerator": ("type of accelerator", "accelerators"),
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Predictions of what was left out: which rows they are of, and what the fits had seen."""

    held: HeldOut
    scored: np.ndarray
    difficulty: np.ndarray


@BOARDS.register("store_model")
def store_model(context: Context) -> Iterator[Scored]:
    """Leave one model out (models with at least 20 runs; timm's only in training)."""
    yield from _both(context, "store_model", "model", fewest=20, not_tested="timm")


@BOARDS.register("store_gpu")
def store_gpu(context: Context) -> Iterator[Scored]:
    """Leave one accelerator type out (types with at least 30 runs)."""
    yield from _both(context, "store_gpu", "accelerator", fewest=30, not_tested="")


def _both(
    context: Context, board: str, column: str, *, fewest: int, not_tested: str
) -> Iterator[Scored]:
    thing, plural = THINGS[column]
    for prefix, runs in (("", context.all_runs), ("shipped.", context.shipped_runs)):
        frame, table = scope(runs, context)
        labels, tested = tested_labels(frame, column, fewest=fewest, not_tested=not_tested)
        known = {name: named(name, column, context) for name in frame[column].unique()}
        things = frame[column].map(known)
        left = leave_each_out(table, labels.to_numpy(str), things.to_numpy(str), tested)
        yield Scored(
            name=prefix + board,
            title=f"New {plural}, {'shipped' if prefix else 'all public'} runs",
            held_out=f"one {thing}, under all its names",
            runs_of="runs shipped with the project" if prefix else "all public runs",
            held=left.held,
            bars=BARS[board],
            points=points(frame[left.scored], left.held, left.difficulty) if prefix else None,
        )


def tested_labels(
    frame: pd.DataFrame, column: str, *, fewest: int, not_tested: str
) -> tuple[pd.Series, list[str]]:
    """Return the label of every run, empty where its source is not tested, and those to test."""
    labels = frame[column].where(frame["source"] != not_tested, "")
    counts = labels.value_counts()
    return labels, sorted(counts.index[(counts >= fewest) & (counts.index != "")])


def scope(frame: pd.DataFrame, context: Shipped) -> tuple[pd.DataFrame, TrainingTable]:
    """Return the runs with FLOPs, batch and peak; Sia's thinned to 150 per job and accelerator."""
    kept = frame[~frame["family"].isin(LEFT_OUT)]
    sia = kept["source"] == "sia-sosp23"
    shuffled = kept[sia].sample(frac=1, random_state=0)
    thinned = shuffled.groupby(["model", "accelerator"]).head(MOST_SIA_RUNS).index
    kept = kept[~sia | kept.index.isin(thinned)].reset_index(drop=True)
    table = training_table(kept, context.catalog)
    return kept.iloc[table.rows].reset_index(drop=True), table


def named(label: str, column: str, context: Shipped) -> str:
    """Return what a label names, however its source spells it: ResNet50 is ResNet-50."""
    if column == "accelerator":
        return context.catalog.spellings.get(spelled(label), label)
    label = ALSO_CALLED.get(label, SCHEDULE.sub("", label))
    known = zoo.named(label)
    return known.name if known else spelled(label)


def leave_each_out(
    table: TrainingTable,
    labels: np.ndarray,
    things: np.ndarray,
    tested: list[str],
    *,
    spreads: bool = True,
) -> LeftOut:
    """Predict every tested group from all that is not of its thing.

    The point comes from leaving exactly one thing out; the spread from a model that is fitted,
    with its interval, without a tenth of the things (the interval's own calibration needs
    sixteen fits, too many to repeat for every single group).

    Parameters
    ----------
    labels, things : array of str, shape (n,)
        Name of each run's group as its source spells it, and what that names.
    tested : list of str
        The labels to predict.
    spreads : bool
        Whether the spread is wanted; it is 0 otherwise.
    """
    predicted = np.full(len(labels), np.nan)
    sigma = np.full(len(labels), np.nan)
    asked = np.isin(labels, tested)
    alone = [things == thing for thing in np.unique(things[asked])]
    dozens = [np.isin(things, things[fold & asked]) for fold in folds(things, COVERAGE_FOLDS)]
    dozens = [held for held in dozens if held.any()]
    # Whole processes: the fits hold the interpreter's lock most of the time.
    with Parallel(n_jobs=-1) as parallel:
        points = parallel(delayed(_point)(table, held) for held in alone)
        wanted = dozens if spreads else []
        found = parallel(delayed(_spread)(table, held) for held in wanted)
    for held, values in zip(alone, points, strict=True):
        predicted[held] = values
    difficulty = np.zeros(len(labels), dtype=int)
    for held, (values, hard) in zip(wanted, found, strict=True):
        sigma[held], difficulty[held] = values, hard
    scored = asked & ~np.isnan(predicted)
    held_out = HeldOut(table.step_s[scored], predicted[scored], sigma[scored])
    return LeftOut(held_out, scored, difficulty[scored])


def _point(table: TrainingTable, held: np.ndarray) -> FloatArray:
    model = PointModel.fit(table.jobs.take(~held), table.step_s[~held])
    return model.predict(table.jobs.take(held))[0].total_s


def _spread(table: TrainingTable, held: np.ndarray) -> tuple[FloatArray, np.ndarray]:
    known = table.take(~held)
    model = StepTimeModel.fit(known.jobs, known.step_s, known.config, known.source)
    prediction = model.predict(table.jobs.take(held))
    return prediction.log_sigma, prediction.difficulty
