"""Metrics of held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from benchmarks.report import Row, at_most, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.predictor.arrays import FloatArray

COVERAGE_BAR = (0.87, 0.93)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Measured and predicted quantities of held-out rows, and the spread of the logarithm."""

    measured: FloatArray
    predicted: FloatArray
    log_sigma: FloatArray | None = None


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
        within(f"{board}.coverage_90", covered[0.9], "share", *COVERAGE_BAR),
    ]
