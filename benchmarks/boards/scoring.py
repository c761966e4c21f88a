"""Metrics of held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from benchmarks.report import Row, at_most, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from advisor.predictor.arrays import FloatArray

COVERAGE_BAR: Final = (0.87, 0.93)
FEW_ROWS: Final = 60
LEVEL: Final = 0.9
GROUPS: Final = ("seen", "new scale", "new model", "new accelerator", "both new")
LABELS: Final = ["source", "model", "family", "accelerator", "accelerators"]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Measured and predicted quantities of held-out rows, and the spread of the logarithm.

    ``coverage_90`` is the board's own bar for that of 90 % intervals, by default `coverage_bar`.
    """

    measured: FloatArray
    predicted: FloatArray
    log_sigma: FloatArray | None = None
    coverage_90: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """One board after its run: what was held out in plain words, and its predictions.

    ``held`` is None where the board's metric is none of an error (``beside`` has it); ``points``
    are set where the runs are part of the project: `POINT_COLUMNS` of
    `advisor.advice.boards`.
    """

    name: str
    title: str
    held_out: str
    runs_of: str
    held: HeldOut | None
    bars: Mapping[str, float] = field(default_factory=dict)
    beside: Sequence[Row] = field(default=())
    points: pd.DataFrame | None = None

    def rows(self) -> list[Row]:
        """Return all figures."""
        figures = [] if self.held is None else score(self.name, self.held, self.bars)
        return [*figures, *self.beside]


def points(runs: pd.DataFrame, held: HeldOut, difficulty: np.ndarray) -> pd.DataFrame:
    """Return held-out predictions beside what they are of, with the 90 % interval [s].

    Parameters
    ----------
    runs : DataFrame, n rows
        The runs, with the columns of the store.
    held : HeldOut
        Their predictions, with a spread.
    difficulty : array of int, shape (n,)
        What of every run the fit had seen, as in `advisor.predictor.difficulty`.
    """
    spread = np.zeros(len(runs)) if held.log_sigma is None else held.log_sigma
    half = np.exp(ndtri(0.5 + LEVEL / 2) * spread)
    return runs[LABELS].assign(
        group=np.array(GROUPS)[difficulty.astype(int)],
        measured_s=held.measured,
        predicted_s=held.predicted,
        low_s=held.predicted / half,
        high_s=held.predicted * half,
    )


def score(board: str, held: HeldOut, bars: Mapping[str, float] | None = None) -> list[Row]:
    """Return the rows of one board; `bars` are upper bars by metric."""
    limits = bars or {}
    error = held.predicted / held.measured - 1
    percent = np.abs(error) * 100
    figures = {
        "mape": float(percent.mean()),
        "median_ape": float(np.median(percent)),
        "p90_ape": float(np.quantile(percent, 0.9)),
        "bias": float(error.mean() * 100),
    }
    rows = [at_most(f"{board}.{name}", value, "%", limits.get(name))
            for name, value in figures.items()]  # fmt: skip
    if held.log_sigma is not None:
        rows += _coverage(board, held, held.log_sigma)
    return [*rows, Row(f"{board}.n", float(len(percent)), "rows")]


def _coverage(board: str, held: HeldOut, log_sigma: FloatArray) -> list[Row]:
    miss = np.abs(np.log(held.measured / held.predicted)) / log_sigma
    covered = {level: float((miss <= ndtri(0.5 + level / 2)).mean()) for level in (0.8, 0.9)}
    return [
        Row(f"{board}.coverage_80", covered[0.8], "share"),
        within(f"{board}.coverage_90", covered[0.9], "share",
               *(held.coverage_90 or coverage_bar(len(miss)))),
    ]  # fmt: skip


def coverage_bar(rows: int) -> tuple[float, float]:
    """Return the shares between which 90 % intervals shall cover so many rows.

    Of few rows a right interval covers a binomial number: its central 95 %.

    >>> coverage_bar(1000)
    (0.87, 0.93)
    """
    if rows >= FEW_ROWS:
        return COVERAGE_BAR
    low, high = binom.interval(0.95, rows, LEVEL)
    return float(low) / rows, float(high) / rows
