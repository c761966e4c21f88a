"""How far a running job is: steps done against time, out of its log or a table.

A log line counts where it has a date with a time, and a step. A table (CSV) needs the columns
``step`` and one of ``elapsed_s``, ``time`` or ``wall_time`` (seconds, or dates); ``workers`` says
how many machines worked.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import TraceError
from advisor.traces.pace import stamp_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

MOST_BYTES: Final = 50_000_000
MOST_LINE: Final = 4_000
# More points than this say no more; of more every n-th is kept.
MOST_POINTS: Final = 2_000
FEWEST_POINTS: Final = 3
FORM: Final = (
    "Give log lines with date, time and step (“2026-12-03 10:00:00 step 1200”), or a CSV with the "
    "columns step and elapsed_s."
)
_STEP: Final = re.compile(
    r"\b(?:global[_ ]step|iteration|step|iter)s?\b[\"']?\s*+[:=#]?\s*+\[?\s*+"
    r"(?!\d{4}[-/]\d\d[-/])(\d{1,12})"  # a number, but no date
    r"(?:\s*/\s*(\d{1,12}))?",
    re.IGNORECASE,
)
_TIMES: Final = ("elapsed_s", "time", "wall_time", "wall time", "timestamp")
# A step is ahead of the last one by less than this, or it is another number.
_FARTHEST: Final = 1e12


@dataclass(frozen=True, eq=False)
class Progress:
    """Steps done by a job that runs.

    Parameters
    ----------
    step : array, shape (points,)
        Optimizer steps done; falls where work was done again.
    elapsed_s : array, shape (points,)
        Since the first point [s], rising.
    workers : array, shape (points,), or None
        Machines that worked, where the log tells.
    total_steps : int or None
        Steps of the whole job, where the log tells.
    """

    step: NDArray[np.float64]
    elapsed_s: NDArray[np.float64]
    workers: NDArray[np.float64] | None = None
    total_steps: int | None = None

    @property
    def restarts(self) -> int:
        """How often work was done again."""
        return int((np.diff(self.step) < 0).sum())

    @property
    def steps_done(self) -> float:
        """At the last point."""
        return float(self.step[-1])

    @property
    def workers_left(self) -> int | None:
        """Machines at the last point, None where the log does not tell."""
        return None if self.workers is None else int(self.workers[-1])

    def session(self) -> Progress:
        """Return the points since work was last done again, or a worker last came or went."""
        begins = np.diff(self.step) < 0
        if self.workers is not None:
            begins |= np.diff(self.workers) != 0
        first = int(np.flatnonzero(begins)[-1]) + 1 if begins.any() else 0
        return self.since(first)

    def since(self, first: int) -> Progress:
        """Return the points from a position on; times keep their zero."""
        workers = None if self.workers is None else self.workers[first:]
        return Progress(self.step[first:], self.elapsed_s[first:], workers, self.total_steps)


def read_progress(content: str | bytes, where: str = "log") -> Progress:
    """Read how far a job is.

    Raises
    ------
    TraceError
        If there is no step with a time, or too little of it; says what is expected.
    """
    text = content if isinstance(content, str) else content.decode("utf-8", errors="replace")
    if len(text) > MOST_BYTES:
        raise TraceError(
            f"more than {MOST_BYTES // 1_000_000} MB.", where=where, todo="Give its last part."
        )
    lines = text.lstrip("\ufeff").splitlines()
    table = _columns(lines[0]) if lines else {}
    points = list(_of_table(lines, table, where) if table else _of_log(lines))
    if len(points) < FEWEST_POINTS:
        raise TraceError(
            f"{len(points)} {'line has' if len(points) == 1 else 'lines have'} a time and a step; "
            f"{FEWEST_POINTS} are needed.",
            where=where,
            todo=FORM,
        )
    return _progress(points, where)


_Point = tuple[float, float, float, float]  # time [s], step, workers, steps in all; NaN: not told


def _of_log(lines: Iterable[str]) -> Iterator[_Point]:
    for line in lines:
        short = line[:MOST_LINE]
        found = _STEP.search(short)
        if found is None:
            continue
        time_s = stamp_s(short)
        if time_s is not None:
            total = float(found[2]) if found[2] else math.nan
            yield time_s, float(found[1]), math.nan, total


def _columns(head: str) -> dict[str, int]:
    """Return the places of the columns of a table; empty: it is none."""
    names = [name.strip().strip('"').casefold() for name in head[:MOST_LINE].split(",")]
    time = next((name for name in _TIMES if name in names), None)
    if time is None or "step" not in names:
        return {}
    found = {"time": names.index(time), "step": names.index("step")}
    return found | ({"workers": names.index("workers")} if "workers" in names else {})


def _of_table(lines: list[str], places: dict[str, int], where: str) -> Iterator[_Point]:
    reader = csv.reader(io.StringIO("\n".join(lines[1:])))
    for number in itertools.count(2):
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TraceError(f"it is no CSV ({error}).", where=where, todo=FORM) from None
        if not row:
            continue
        try:
            cells = {name: row[place].strip() for name, place in places.items()}
            workers = float(cells["workers"]) if cells.get("workers") else math.nan
            yield _seconds(cells["time"]), float(cells["step"]), workers, math.nan
        except (IndexError, ValueError):
            raise TraceError(
                "a time, a step or a number of workers is missing or no number.",
                where=f"{where}, row {number}",
                todo=FORM,
            ) from None


def _seconds(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        when = dt.datetime.fromisoformat(cell)
        return when.replace(tzinfo=when.tzinfo or dt.UTC).timestamp()


def _progress(points: list[_Point], where: str) -> Progress:
    table = np.array(points)
    time, step = table[:, 0], table[:, 1]
    bad = ~(np.isfinite(time) & np.isfinite(step) & (step >= 0) & (step < _FARTHEST))
    if bad.any() or (table[:, 2] < 0).any():
        raise TraceError("a time, a step or a number of workers is impossible.", where=where,
                         todo=FORM)  # fmt: skip
    # Of lines of one step, as of several processes, the first counts.
    kept = np.concatenate([[True], np.diff(step) != 0])
    table = table[kept]
    if (np.diff(table[:, 0]) < 0).any():
        raise TraceError(
            "times go back.", where=where, todo="Give the log of one process, oldest line first."
        )
    if len(table) < FEWEST_POINTS:
        raise TraceError("its step never changes.", where=where, todo=FORM)
    totals = table[np.isfinite(table[:, 3]), 3]
    table = _thinned(table)
    told = np.isfinite(table[:, 2]).all()
    return Progress(
        step=table[:, 1],
        elapsed_s=table[:, 0] - table[0, 0],
        workers=table[:, 2] if told else None,
        total_steps=int(totals[-1]) if len(totals) else None,
    )


def _thinned(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keep first, last, turning points and evenly many of the others."""
    if len(table) <= MOST_POINTS:
        return table
    even = np.linspace(0, len(table) - 1, MOST_POINTS).astype(int)
    turns = np.flatnonzero(np.diff(table[:, 1]) < 0)
    some = turns[:: max(1, len(turns) // MOST_POINTS)]
    kept: NDArray[np.float64] = table[np.unique(np.concatenate([even, some, some + 1]))]
    return kept
