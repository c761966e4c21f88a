"""DT-FM: 64 V100 on five networks, 24 to 40 layers, three batches; one cell of each is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.predictor.term_calibration import TermCalibration
from benchmarks.boards.dtfm_cells import constants, read_cells, terms
from benchmarks.boards.dtfm_memory import (
    CAPACITY_BYTES,
    calibrated_work,
    calibration_cell,
    peaks,
    read_memory_cells,
)
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Context

BAR: Final = 6.0
# The middle of the board: 32 layers, a batch of 2048.
GIVEN: Final = (32, 2048)
# How far the logarithm of a term's factor may be from 0: compute, transfers, exchange. The
# constants are of DT-FM's own runtime; of the other systems little is known.
SPREADS: Final = {"dtfm": (0.1, 0.25, 0.6)}
OTHER_SPREAD: Final = (0.6, 0.6, 0.8)


def read(context: Context) -> pd.DataFrame:
    """Return the published figures of DT-FM."""
    path: Path = context.reference / "data" / "papers" / "systems_b.csv"
    frame = pd.read_csv(path, low_memory=False)
    return frame[frame["paper"].str.contains("Decentralized Training", na=False)]


@BOARDS.register("dtfm")
def dtfm(context: Context) -> Iterator[Scored]:
    """45 scheduled cells, the other systems beside them, and which cells run out of memory."""
    frame = read(context)
    cells = read_cells(frame)
    found = terms(cells, constants(frame))
    held, every = one_cell_given(cells, found, "dtfm")
    plain = found[cells["system"] == "dtfm"].sum(axis=1)
    measured = cells.loc[cells["system"] == "dtfm", "step_time_s"].to_numpy()
    others = [
        Row(f"dtfm.{system}_mape", _mape(one_cell_given(cells, found, system)[0]), "%")
        for system in sorted(set(cells["system"]) - {"dtfm"})
    ]
    yield Scored(
        name="dtfm",
        title="Language models over five networks, from one city to three continents",
        held_out="all cells of a network but one",
        runs_of="public runs of DT-FM",
        held=held,
        bars={"mape": BAR},
        beside=[
            at_most("dtfm.any_cell_mape", _mape(every), "%", BAR),
            Row("dtfm.no_cell_mape", float(100 * np.mean(np.abs(plain / measured - 1))), "%"),
            *others,
            *_memory_rows(frame),
        ],
    )


def one_cell_given(cells: pd.DataFrame, found: FloatArray, system: str) -> tuple[HeldOut, HeldOut]:
    """Predict each network's other cells from one: from the middle one, and from each in turn.

    The spread of a network is how far the predictions of the other networks are off.
    """
    measured = cells["step_time_s"].to_numpy(float)
    middle = ((cells["layers"] == GIVEN[0]) & (cells["batch"] == GIVEN[1])).to_numpy()
    from_middle, from_any = [], []
    for case in np.unique(cells["case"]):
        here = np.flatnonzero((cells["case"] == case) & (cells["system"] == system))
        for given in here:
            rest = here[here != given]
            fit = TermCalibration.fit(
                found[[given]], measured[[given]], SPREADS.get(system, OTHER_SPREAD)
            )
            rows = np.column_stack(
                [np.full(len(rest), case), measured[rest], fit.predict(found[rest])[0]]
            )
            from_any.append(rows)
            if middle[given]:
                from_middle.append(rows)
    return _held(np.concatenate(from_middle)), _held(np.concatenate(from_any))


def _held(rows: FloatArray) -> HeldOut:
    case, measured, predicted = rows.T
    error = np.log(predicted / measured)
    spread = [float(np.sqrt(np.mean(error[case != one] ** 2))) for one in case]
    return HeldOut(measured, predicted, np.array(spread))


def _mape(held: HeldOut) -> float:
    return float(100 * np.mean(np.abs(held.predicted / held.measured - 1)))


def _memory_rows(frame: pd.DataFrame) -> Iterator[Row]:
    cells = read_memory_cells(frame)
    given = calibration_cell(cells)
    rest = [cell for cell in cells if cell is not given]
    called = peaks(rest, calibrated_work(given)) > CAPACITY_BYTES
    out = np.array([cell.out_of_memory for cell in rest])
    yield at_least("dtfm.oom_right", float((called == out).mean()), "share", 1.0)
    yield Row("dtfm.oom_called", float((called & out).sum()), "cells")
    yield Row("dtfm.oom_missed", float((~called & out).sum()), "cells")
    yield Row("dtfm.oom_false", float((called & ~out).sum()), "cells")
    yield Row("dtfm.oom_cells", float(len(rest)), "cells")
