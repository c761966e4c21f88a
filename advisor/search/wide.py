"""The wide pass: every layout on every machine shape, vectorised, from physics alone.

Workload numbers are scalars, layout columns have shape (1, layouts), hardware columns
(machines, 1): each operation touches no more than it must, and only the arithmetic that mixes
the two is done for every pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import InvalidInputError
from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import step_columns
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.predictor.workload_columns import workload_columns
from advisor.search.layouts import COLUMNS, LayoutTable, enumerate_layouts, machine_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Layouts kept per machine shape and count for the exact pass, which the correction may reorder.
# Few enough that physics leads: of thousands, the noise of the correction would choose.
KEEP: Final = 8
# More candidates, counted on physically distinct machines, are refused: they would take minutes.
MOST_CANDIDATES: Final = 200_000_000
USUAL_RATE: Final = 4e6  # candidates per second of one core
# Pairs of machine and layout that are timed together: few enough for a processor's cache.
BLOCK: Final = 200_000
# Machines of one block differ in memory by at most a factor of 2 to this power.
MEMORY_STEP: Final = 2.0
# Blocks of machines with about so many accelerators come first: most jobs end there.
USUAL_NODE: Final = 8
# Hardware columns that decide how much memory a layout needs.
MEMORY_HARDWARE: Final = ("fused_attention",)
HARDWARE: Final = (
    "peak_flops", "memory_bytes", "memory_bytes_per_s", "link_bytes_per_s",
    "network_bytes_per_s", "devices_per_node", "hardware_year", "fused_attention", "year",
)  # fmt: skip


Kept = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Best layouts per machine shape and count, and what the wide pass left out.

    ``hardware`` is the row of the hardware table; ``machines`` the count; ``jobs`` holds one row
    per entry. ``considered`` and ``too_large`` count layouts per hardware row; ``complete`` is
    False where the pass was stopped.
    """

    jobs: Jobs
    hardware: np.ndarray
    machines: np.ndarray
    considered: np.ndarray
    too_large: np.ndarray
    complete: bool = True


def wide_pass(
    workload: Workload,
    hardware: pd.DataFrame,
    costs: ComputeCosts,
    *,
    most_devices: int,
    memory_margin: float,
    count: int | None = None,
    stated: Mapping[str, float] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Shortlist:
    """Evaluate all legal layouts on all hardware rows and keep the fastest that fit.

    Parameters
    ----------
    hardware : DataFrame
        Columns `HARDWARE` and ``multi_node`` (bool: the network between machines is known), one
        row per physically distinct machine shape.
    costs : ComputeCosts
        Constants of the workload's kind (scalars).
    most_devices : int
        Largest cluster [accelerators].
    memory_margin : float
        Share of the device memory to leave free.
    count : int, optional
        The only machine count to try; by default all up to `most_devices` accelerators.
    stated : mapping, optional
        Layout columns that are given, and their values.
    stop : callable, optional
        Asked after each block of machines; once it says yes, what was found so far is returned.
        The blocks and their order depend on the question alone.

    Raises
    ------
    InvalidInputError
        If there are more candidates than can be evaluated in reasonable time.
    """
    scalars = {name: np.asarray(value) for name, value in workload_columns(workload).items()}
    sizes = hardware["devices_per_node"].to_numpy(int)
    tables = {}
    for size in np.unique(sizes).tolist():
        tried = [count] if count is not None else machine_counts(size, most_devices)
        tables[size] = enumerate_layouts(workload, size, tried).only(stated or {})
    refuse_too_many(sum(int((sizes == size).sum()) * len(table) for size, table in tables.items()))
    columns = {name: hardware[name].to_numpy(float) for name in HARDWARE}
    alone = ~hardware["multi_node"].to_numpy(bool)  # their network is not known
    own = np.stack([columns[name] for name in MEMORY_HARDWARE], axis=1)
    kinds, kind = np.unique(own, axis=0, return_inverse=True)
    kind, used = kind.ravel(), dict[int, FloatArray]()
    parts: list[tuple[Jobs, np.ndarray, np.ndarray]] = []
    counted = np.zeros((2, len(hardware)), dtype=np.int64)
    complete = True
    for rows in _blocks(hardware, {size: len(table) for size, table in tables.items()}):
        if parts and stop is not None and stop():
            complete = False
            break
        size = int(sizes[rows[0]])
        if size not in used:
            used[size] = _used_bytes(scalars, tables[size], kinds)
        block = {name: column[rows, None] for name, column in columns.items()}
        fits = used[size][kind[rows]] <= (1 - memory_margin) * block["memory_bytes"]
        fits[alone[rows], _single(tables[size]) :] = False
        kept = _kept(scalars, block, tables[size], costs, used[size][kind[rows]], fits)
        considered = np.where(alone[rows], _single(tables[size]), len(tables[size]))
        counted[:, rows] = considered, considered - fits.sum(axis=1)
        parts.append(_gather(scalars, block, tables[size], kept, rows))
    if not parts:
        parts = [_nothing(scalars)]
    jobs, found, machines = zip(*parts, strict=True)
    return Shortlist(
        jobs=Jobs.concatenate(jobs),
        hardware=np.concatenate(found),
        machines=np.concatenate(machines),
        considered=counted[0],
        too_large=counted[1],
        complete=complete,
    )


def refuse_too_many(candidates: int) -> None:
    """Refuse a space that would take minutes, and say how large it is.

    Raises
    ------
    InvalidInputError
        If there are more than `MOST_CANDIDATES`.
    """
    if candidates > MOST_CANDIDATES:
        raise InvalidInputError(
            f"{candidates:,} candidates, about {candidates / USUAL_RATE:,.0f} s; "
            f"at most {MOST_CANDIDATES:,} are searched.",
            where="search",
            todo="Allow fewer accelerators or fewer machine types, or state the layout.",
        )


def _blocks(hardware: pd.DataFrame, layouts: Mapping[int, int]) -> Iterator[np.ndarray]:
    """Yield rows with equally many devices and similar memory, large machines first.

    Layouts that fit nowhere in a block are not timed, and its tables stay small.
    """
    sizes = hardware["devices_per_node"].to_numpy(int)
    memory = hardware["memory_bytes"].to_numpy(float)
    most_memory = memory.max(initial=1.0)
    step = np.floor(np.log2(memory / most_memory) / MEMORY_STEP).astype(int)
    for size in sorted(layouts, key=lambda size: (abs(size - USUAL_NODE), size)):
        if not layouts[size]:
            continue
        most = max(BLOCK // layouts[size], 1)
        for level in np.unique(step[sizes == size])[::-1].tolist():
            rows = np.flatnonzero((sizes == size) & (step == level))
            yield from (rows[at : at + most] for at in range(0, len(rows), most))


def _single(layouts: LayoutTable) -> int:
    """Return how many of the layouts are of one machine; they come first."""
    return int(layouts.starts[1]) if layouts.counts[0] == 1 else 0


def _kept(
    scalars: dict[str, FloatArray],
    columns: dict[str, FloatArray],
    layouts: LayoutTable,
    costs: ComputeCosts,
    used_bytes: FloatArray,
    fits: np.ndarray,
) -> Kept:
    """Return (machine, layout, count) of the fastest that fit, of every machine and count."""
    timed = np.flatnonzero(fits.any(axis=0))
    jobs = Jobs(**scalars, **_layout_columns(layouts, timed), **columns)
    memory = columns["memory_bytes"]
    risk = out_of_memory_probability(used_bytes[:, timed], memory, memory_spread(jobs))
    step = expected_time(step_columns(jobs, costs).total_s, risk)
    expected = np.where(fits[:, timed], step, np.inf)
    bounds = np.searchsorted(timed, layouts.starts)
    parts = []
    for index, count in enumerate(layouts.counts):
        block = expected[:, bounds[index] : bounds[index + 1]]
        best = np.argsort(block, axis=1, kind="stable")[:, :KEEP]
        row, rank = np.nonzero(np.isfinite(np.take_along_axis(block, best, axis=1)))
        parts.append((row, timed[best[row, rank] + bounds[index]], np.full(len(row), count)))
    row, layout, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return row, layout, counts


def _used_bytes(
    scalars: dict[str, FloatArray], layouts: LayoutTable, kinds: FloatArray
) -> FloatArray:
    """Return the peak memory of all layouts on each kind of machine [bytes].

    Parameters
    ----------
    kinds : array, shape (kinds, len(MEMORY_HARDWARE))
        What of a machine matters to it.
    """
    columns = {name: np.ones((1, 1)) for name in HARDWARE}
    columns |= {name: kinds[:, [at]] for at, name in enumerate(MEMORY_HARDWARE)}
    jobs = Jobs(**scalars, **_layout_columns(layouts), **columns)
    used = memory_columns(jobs).used_bytes
    return np.asarray(np.broadcast_to(used, (len(kinds), len(layouts))))


def expected_time(step_s: FloatArray, out_of_memory: FloatArray) -> FloatArray:
    """Step time with the risk of running out of memory priced in: a failed run is repeated."""
    return np.asarray(step_s / (1 - np.minimum(out_of_memory, 0.9)))


def _gather(
    scalars: dict[str, FloatArray],
    columns: dict[str, FloatArray],
    layouts: LayoutTable,
    kept: Kept,
    rows: np.ndarray,
) -> tuple[Jobs, np.ndarray, np.ndarray]:
    row, layout, count = kept
    own = {name: column[row, 0] for name, column in columns.items()}
    chosen = {name: getattr(layouts, name)[layout] for name in COLUMNS}
    return Jobs.from_columns(**scalars, **chosen, **own), rows[row], count


def _layout_columns(
    layouts: LayoutTable, rows: np.ndarray | slice = slice(None)
) -> dict[str, FloatArray]:
    return {name: getattr(layouts, name)[None, rows] for name in COLUMNS}


def _nothing(scalars: dict[str, FloatArray]) -> tuple[Jobs, np.ndarray, np.ndarray]:
    columns = dict.fromkeys((*HARDWARE, *COLUMNS), np.empty(0))
    jobs = Jobs.from_columns(**scalars, **columns)
    return jobs, np.empty(0, dtype=int), np.empty(0, dtype=int)
