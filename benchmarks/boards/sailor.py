"""Sailor's measured plans: GH200 nodes, and nodes of three kinds joined by slow links.

Step time is predicted from the layer profiles alone (zero-shot); the peak of memory, whose
context and bookkeeping no profile holds, with factors learnt from the other plans of the cluster.
Both are printed for both. Plans with one and the same figures are held out together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.sailor_table import Quantity, Table, read
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from benchmarks.boards.context import Context

BARS: Final = {
    "sailor_gh200": 8.5,
    "sailor_mixed": 10.0,
    "sailor_gh200_memory": 5.5,
    "sailor_mixed_memory": 25.0,
}
TITLES: Final = {
    "sailor_gh200": "Plans of uneven pipelines on GH200",
    "sailor_mixed": "Plans of uneven pipelines on Titan RTX, RTX 2080 and RTX 3090 together",
    "sailor_gh200_memory": "Peak memory of plans on GH200",
    "sailor_mixed_memory": "Peak memory of plans on Titan RTX, RTX 2080 and RTX 3090 together",
}
# As published with the plans.
PEERS: Final = {
    "sailor_gh200": {"sailor": 8.9, "varuna": 11.4, "metis": 12.2, "amp": 199.0},
    "sailor_mixed": {"sailor": 10.3, "varuna": 56.1, "metis": 27.7, "amp": 35.6},
    "sailor_gh200_memory": {"sailor": 5.9},
    "sailor_mixed_memory": {"sailor": 76.0},
}
FEWEST_RUNS: Final = 3


@BOARDS.register("sailor_gh200")
def sailor_gh200(context: Context) -> Iterator[Scored]:
    """15 plans on GH200."""
    yield from _board(context, "sailor_gh200", "time", mixed=False)


@BOARDS.register("sailor_mixed")
def sailor_mixed(context: Context) -> Iterator[Scored]:
    """9 plans on three kinds of accelerator."""
    yield from _board(context, "sailor_mixed", "time", mixed=True)


@BOARDS.register("sailor_gh200_memory")
def sailor_gh200_memory(context: Context) -> Iterator[Scored]:
    """Peak memory of the plans on GH200."""
    yield from _board(context, "sailor_gh200_memory", "memory", mixed=False)


@BOARDS.register("sailor_mixed_memory")
def sailor_mixed_memory(context: Context) -> Iterator[Scored]:
    """Peak memory of the plans on three kinds of accelerator."""
    yield from _board(context, "sailor_mixed_memory", "memory", mixed=True)


def _board(context: Context, board: str, name: str, *, mixed: bool) -> Iterator[Scored]:
    frame, tables = read(context)
    gh200 = frame["pipelines_json"].str.contains("GH-96")
    table = Table.of(frame, tables)
    quantity = table.quantity(name)
    here = np.flatnonzero((table.cluster == "GH-96") != mixed)
    there = np.flatnonzero((table.cluster == "GH-96") == mixed)
    learnt = leave_one_out(quantity, here, table.run)
    plain = quantity.terms[here].sum(axis=1)
    zero = HeldOut(quantity.measured[here], plain,
                   np.full(len(here), quantity.zero_shot_spread(there)))  # fmt: skip
    held, other, label = (zero, learnt, "loo_mape")
    if name == "memory":
        held, other, label = (learnt, zero, "zero_shot_mape")
    peers = [Row(f"peer.{peer}.{board}.mape", value, "%") for peer, value in PEERS[board].items()]
    missing = int((gh200 != mixed).sum()) - len(here)
    yield Scored(
        name=board,
        title=TITLES[board],
        held_out="no plan of the cluster seen" if name == "time" else "one plan",
        runs_of="public plans of Sailor",
        held=held,
        bars={"mape": BARS[board]},
        beside=[
            Row(f"{board}.{label}", _mape(other), "%"),
            Row(f"{board}.n_refused", float(missing), "rows"),
            *peers,
        ],
    )


def _mape(held: HeldOut) -> float:
    measured = np.isfinite(held.measured)  # not every plan's memory is
    if not measured.any():
        return np.nan
    return float(100 * np.mean(np.abs(held.predicted / held.measured - 1)[measured]))


def leave_one_out(quantity: Quantity, rows: np.ndarray, run: np.ndarray) -> HeldOut:
    """Predict every run by factors learnt from the other rows; copies of it are held out too."""
    predicted, spread = np.empty(len(rows)), np.empty(len(rows))
    for one in np.unique(run[rows]):
        held = run[rows] == one
        predicted[held], spread[held] = quantity.calibrated(rows[~held], rows[held])
    return HeldOut(quantity.measured[rows], predicted, spread)


@ROWS_BOARDS.register("sailor")
def sailor(context: Context, frame: pd.DataFrame) -> Iterator[Scored]:
    """Score rows with the columns of ``sailor_plans.csv``."""
    known_frame, tables = read(context)
    known, asked = Table.of(known_frame, tables), Table.of(frame, tables)
    refused = Row("sailor.n_refused", float(asked.refused), "rows")
    if not len(asked.step_s):
        yield _of_rows("sailor", None, [refused])
        return
    memory = _predict_rows(known, asked, "memory")
    time = _predict_rows(known, asked, "time")
    beside = [Row("sailor.memory_mape", _mape(memory), "%"), refused]
    yield _of_rows("sailor", time, beside)


def _of_rows(name: str, held: HeldOut | None, beside: list[Row]) -> Scored:
    return Scored(
        name=name,
        title="Plans of uneven pipelines",
        held_out="plans given as a file",
        runs_of="a file",
        held=held,
        beside=beside,
    )


def _predict_rows(known: Table, asked: Table, name: str) -> HeldOut:
    """Predict rows by the plans of the clusters that have their accelerators, else zero-shot."""
    ours, theirs = known.quantity(name), asked.quantity(name)
    predicted, spread = np.empty(len(asked.step_s)), np.empty(len(asked.step_s))
    everything = np.arange(len(known.step_s))
    for cluster in np.unique(asked.cluster):
        rows = np.flatnonzero(asked.cluster == cluster)
        wanted = set(cluster.split("+"))
        alike = np.array([bool(wanted & set(one.split("+"))) for one in known.cluster])
        runs = np.flatnonzero(alike)
        if len(runs) >= FEWEST_RUNS:
            predicted[rows], spread[rows] = ours.calibrated(runs, rows, theirs)
        else:
            predicted[rows] = theirs.terms[rows].sum(axis=1)
            spread[rows] = ours.zero_shot_spread(everything)
    return HeldOut(theirs.measured, predicted, spread)
