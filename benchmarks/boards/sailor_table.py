"""Sailor's plans as a table: predicted terms, measured figures, and calibration of the terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pandas as pd

from advisor.core.errors import AdvisorError
from advisor.predictor.term_calibration import TermCalibration
from benchmarks.boards.sailor_inputs import LayerTables
from benchmarks.boards.sailor_plans import Plan, memory_terms, time_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Context

# How far the logarithm of a term's factor may be from 0 before any run: compute with its bubble,
# transfers, exchange, update; states, activations, what is at work, context.
TIME_SPREAD: Final = (0.15, 0.3, 0.5, 0.5)
MEMORY_SPREAD: Final = (0.3, 0.15, 0.7, 0.5)


@dataclass(frozen=True)
class Table:
    """Plans with their predicted terms, one row each, and what was measured."""

    cluster: np.ndarray
    groups: np.ndarray
    time_terms: FloatArray
    memory_terms: FloatArray
    step_s: FloatArray
    memory_bytes: FloatArray
    run: np.ndarray
    refused: int

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        tables: LayerTables,
        time: Callable[[Plan, LayerTables], FloatArray] | None = None,
    ) -> Self:
        """Predict the terms of every row that can be, those of a step by `time`."""
        step_terms = time or time_terms
        kept, refused = [], 0
        for _, row in frame.iterrows():
            try:
                plan = Plan.of(row, tables)
                terms = step_terms(plan, tables), memory_terms(plan, tables)
            except AdvisorError:
                refused += 1
                continue
            measured = _number(row["step_time_s"]), _number(row["peak_memory_bytes"])
            # A plan whose memory was not measured is scored by its time alone.
            if not (np.isfinite(np.concatenate(terms)).all() and measured[0] > 0):
                refused += 1
                continue
            kept.append(("+".join(plan.accelerators), plan.group, *terms, *measured))
        figures = np.array([(one[4], one[5]) for one in kept]).reshape(len(kept), 2)
        _, run = np.unique(figures, axis=0, return_inverse=True)
        return cls(
            cluster=np.array([one[0] for one in kept], dtype=str),
            groups=np.array([one[1] for one in kept], dtype=str),
            time_terms=np.array([one[2] for one in kept]),
            memory_terms=np.array([one[3] for one in kept]),
            step_s=figures[:, 0],
            memory_bytes=figures[:, 1],
            run=run.reshape(-1),
            refused=refused,
        )

    def quantity(self, name: str) -> Quantity:
        """Return the terms and figures of ``time`` or ``memory``."""
        if name == "time":
            return Quantity(self.time_terms, self.step_s, TIME_SPREAD, None)
        return Quantity(self.memory_terms, self.memory_bytes, MEMORY_SPREAD, self.groups)


def _number(value: object) -> float:
    """Return a measured figure, NaN where it is none."""
    number = float(pd.to_numeric(pd.Series([value]), errors="coerce").iloc[0])
    return number if 0 < number < np.inf else np.nan


@dataclass(frozen=True)
class Quantity:
    """One quantity of all plans: terms, measured sums, and how factors may spread."""

    terms: FloatArray
    measured: FloatArray
    spread: tuple[float, ...]
    groups: np.ndarray | None

    def calibrated(
        self, known: np.ndarray, asked: np.ndarray, of: Quantity | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return predictions of rows `asked` (of another table `of`), fitted on rows `known`."""
        target = self if of is None else of
        grouped = None if self.groups is None else self.groups[known].tolist()
        fit = TermCalibration.fit(self.terms[known], self.measured[known], self.spread, grouped)
        groups = None if target.groups is None else target.groups[asked].tolist()
        return fit.predict(target.terms[asked], groups)

    def zero_shot_spread(self, known: np.ndarray) -> float:
        """Return the root mean square of the logarithmic error without any factor."""
        error = np.log(self.terms[known].sum(axis=1) / self.measured[known])
        return float(np.sqrt(np.mean(error**2)))


def _positive(row: pd.Series, column: str) -> float | None:
    try:
        value = float(row.get(column, np.nan))
    except (TypeError, ValueError):
        return None
    return value if 0 < value < np.inf else None


def read(context: Context) -> tuple[pd.DataFrame, LayerTables]:
    """Return the board's plans and the tables beside them."""
    folder = context.reference / "data" / "boards"
    return pd.read_csv(folder / "sailor_plans.csv"), LayerTables.read(folder, context.catalog)
