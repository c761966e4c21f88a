"""The store at large as tables of the boards: every run once, and what its labels name."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor import zoo
from advisor.catalog.names import spelled
from advisor.predictor.training import TrainingTable, training_table
from benchmarks.boards.leaks import one_of_each_run

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.boards.context import Context, Shipped

LEFT_OUT: Final = ("moe", "recommender", "speech")
MOST_SIA_RUNS: Final = 150
# What neither spelling nor the zoo unites: benchmarks with a name of their own, and how long
# Detectron2 trains one (1x, 3x, 100ep), which is no part of a step.
ALSO_CALLED: Final = {"RetinaNet (SSD) 800px": "RetinaNet", "inception3": "InceptionV3"}
SCHEDULE: Final = re.compile(r"_(?:\dx|\d+ep)(?:_LSJ)?$")
SHIPPED: Final = "shipped."


@dataclass(frozen=True, slots=True)
class StoreTable:
    """Measured runs with the predictor's columns, row by row.

    ``prefix`` is that of the names of boards; ``things`` has what every run's label names, by
    column (``model`` and ``accelerator``).
    """

    prefix: str
    frame: pd.DataFrame
    table: TrainingTable
    things: dict[str, np.ndarray]

    @property
    def which(self) -> str:
        """The runs, in a title."""
        return "shipped runs" if self.prefix else "all public runs"

    @property
    def runs_of(self) -> str:
        """Whose runs they are."""
        return "runs shipped with the project" if self.prefix else "all public runs"


@functools.lru_cache(maxsize=1)
def store_tables(context: Context) -> tuple[StoreTable, ...]:
    """Return the store with all runs (unless quick) and with those that ship."""
    kinds = {"": "all_runs", SHIPPED: "shipped_runs"}
    if context.quick:
        del kinds[""]
    found = []
    for prefix, runs in kinds.items():
        frame, table = scope(one_of_each_run(getattr(context, runs), context.catalog), context)
        things = {column: things_of(frame[column], context) for column in ("model", "accelerator")}
        found.append(StoreTable(prefix, frame, table, things))
    return tuple(found)


def scope(frame: pd.DataFrame, context: Shipped) -> tuple[pd.DataFrame, TrainingTable]:
    """Return the runs with FLOPs, batch and peak; Sia's thinned to 150 per job and accelerator."""
    kept = frame[~frame["family"].isin(LEFT_OUT)]
    sia = kept["source"] == "sia-sosp23"
    shuffled = kept[sia].sample(frac=1, random_state=0)
    thinned = shuffled.groupby(["model", "accelerator"]).head(MOST_SIA_RUNS).index
    kept = kept[~sia | kept.index.isin(thinned)].reset_index(drop=True)
    table = training_table(kept, context.catalog)
    return kept.iloc[table.rows].reset_index(drop=True), table


def tested_labels(
    frame: pd.DataFrame, column: str, *, fewest: int, not_tested: str
) -> tuple[pd.Series, list[str]]:
    """Return the label of every run, empty where its source is not tested, and those to test."""
    labels = frame[column].where(frame["source"] != not_tested, "")
    counts = labels.value_counts()
    return labels, sorted(counts.index[(counts >= fewest) & (counts.index != "")])


def things_of(labels: pd.Series, context: Shipped) -> np.ndarray:
    """Return what every label of a column (``model`` or ``accelerator``) names, shape (n,)."""
    known = {label: named(label, str(labels.name), context) for label in labels.unique()}
    return labels.map(known).to_numpy(str)


def named(label: str, column: str, context: Shipped) -> str:
    """Return what a label names, however its source spells it: ResNet50 is ResNet-50."""
    if column == "accelerator":
        return context.catalog.spellings.get(spelled(label), label)
    label = ALSO_CALLED.get(label, SCHEDULE.sub("", label))
    known = zoo.named(label)
    return known.name if known else spelled(label)
