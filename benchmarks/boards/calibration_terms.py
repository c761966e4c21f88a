"""Calibration of physical terms by a user's own runs: the error with 0, 1, 2, 3 and 5 of them.

A user is a cluster: nothing measured is known of it before its first run, only what data sheets
say of its accelerators and links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.term_calibration import TermCalibration
from benchmarks.boards.dtfm import read as read_dtfm
from benchmarks.boards.dtfm_cells import Constants, read_cells, terms
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.sailor_sheets import sheet_terms
from benchmarks.boards.sailor_table import Table, read
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row, at_most, below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Context

OWN_RUNS: Final = (0, 1, 2, 3, 5)
DRAWS: Final = 40
QUICK_DRAWS: Final = 8
HALVED_AT: Final = 3
# How far the logarithm of each term's factor may be from 0 where only data sheets are known:
# compute (a large share of the peak or a small one), transfers, exchange; on a layer's own terms,
# arithmetic, launches and all-reduces, then transfers, exchange, update.
CELL_SPREAD: Final = (0.8, 0.5, 0.5)
PLAN_SPREAD: Final = (0.8, 0.8, 0.8, 0.5, 0.5, 0.5)
NOISE: Final = (0.03, 0.05, 0.08, 0.12)
# Of the peak in half precision, as the middle of published utilisations; a layer's forward,
# repeated forward and backward pass of DT-FM's model are 8 FLOPs per parameter and token.
PEAK_SHARE: Final = 0.4
V100_PEAK_FLOPS: Final = 125e12
LAYER_FLOPS: Final = 96 * 2048 * 2048.0**2 * (1 + 1 / 6)


@dataclass(frozen=True)
class User:
    """Runs of one cluster: predicted terms, measured sums, and groups of like runs."""

    terms: FloatArray
    measured: FloatArray
    spread: Sequence[float]
    run: np.ndarray


@BOARDS.register("calibration_sailor")
def calibration_sailor(context: Context) -> Iterator[Scored]:
    """Two users: the plans on GH200, and those on three kinds of accelerator."""
    frame, tables = read(context)
    table = Table.of(frame, tables, sheet_terms)
    users = [
        User(table.time_terms[mine], table.step_s[mine], PLAN_SPREAD, table.run[mine])
        for mine in ((table.cluster == "GH-96"), (table.cluster != "GH-96"))
    ]
    yield _board("calibration_sailor", "Plans of uneven pipelines, with runs of the cluster",
                 "public plans of Sailor", users, context)  # fmt: skip


@BOARDS.register("calibration_dtfm")
def calibration_dtfm(context: Context) -> Iterator[Scored]:
    """25 users: five systems on five networks."""
    cells = read_cells(read_dtfm(context))
    sheet = Constants(LAYER_FLOPS / (PEAK_SHARE * V100_PEAK_FLOPS), 0.0)
    found = terms(cells, sheet)
    measured = cells["step_time_s"].to_numpy(float)
    users = []
    for _, rows in cells.groupby(["system", "case"]):
        mine = rows.index.to_numpy()
        users.append(User(found[mine], measured[mine], CELL_SPREAD, mine))
    yield _board("calibration_dtfm", "Language models over slow networks, with runs of the network",
                 "public runs of DT-FM and its peers", users, context)  # fmt: skip


def _board(board: str, title: str, runs_of: str, users: list[User], context: Context) -> Scored:
    draws = QUICK_DRAWS if context.quick else DRAWS
    errors = errors_by_runs(users, draws)
    return falling(board, title, runs_of, "all runs of a cluster but those given", errors,
                   len(users))  # fmt: skip


def falling(
    board: str, title: str, runs_of: str, held_out: str, errors: dict[int, float], users: int
) -> Scored:
    """Return a board of errors [%] by the number of own runs: each shall be below the last.

    With `HALVED_AT` runs half of the error shall be left.
    """
    values = [errors[count] for count in OWN_RUNS]
    rows = [Row(f"{board}.mape_k0", values[0], "%")]
    for count, before, value in zip(OWN_RUNS[1:], values[:-1], values[1:], strict=True):
        rows.append(below(f"{board}.mape_k{count}", value, "%", before))
        if count == HALVED_AT:
            rows.append(at_most(f"{board}.left_at_k{count}", value / values[0], "share", 0.5))
    return Scored(
        name=board,
        title=title,
        held_out=held_out,
        runs_of=runs_of,
        held=None,
        beside=[*rows, Row(f"{board}.users", float(users), "users")],
    )


def errors_by_runs(users: list[User], draws: int) -> dict[int, float]:
    """Return the mean over users and draws of the error of the runs not given [%], by their count.

    Of one draw, the same runs are asked whatever the count: those that five runs leave. Copies
    of a run that was given are not asked.
    """
    rng = np.random.default_rng(0)
    most = max(OWN_RUNS)
    off: dict[int, list[float]] = {count: [] for count in OWN_RUNS}
    for user in users:
        for _ in range(draws):
            order = rng.permutation(len(user.measured))
            asked = order[most:]
            asked = asked[~np.isin(user.run[asked], user.run[order[:most]])]
            for count in OWN_RUNS:
                held = predict(user, order[:count], asked)
                off[count].append(float(np.mean(np.abs(held.predicted / held.measured - 1))))
    return {count: 100 * float(np.mean(values)) for count, values in off.items()}


def predict(user: User, given: np.ndarray, asked: np.ndarray) -> HeldOut:
    """Predict runs of a user with the given ones known."""
    fit = TermCalibration.fit(
        user.terms[given], user.measured[given], user.spread, noise_spreads=NOISE
    )
    predicted, spread = fit.predict(user.terms[asked])
    return HeldOut(user.measured[asked], predicted, spread)
