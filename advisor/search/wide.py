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

from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import step_columns
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.predictor.workload_columns import workload_columns
from advisor.search.layouts import COLUMNS, LayoutTable, enumerate_layouts, machine_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

# Layouts kept per machine shape and count for the exact pass, which the correction may reorder.
# Few enough that physics leads: of thousands, the noise of the correction would choose.
KEEP: Final = 8
HARDWARE: Final = (
    "peak_flops", "memory_bytes", "memory_bytes_per_s", "link_bytes_per_s",
    "network_bytes_per_s", "devices_per_node", "hardware_year", "fused_attention", "year",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Best layouts per machine shape and count, and what the wide pass left out.

    ``hardware`` is the row of the hardware table; ``machines`` the count; ``jobs`` holds one row
    per entry. ``considered`` and ``too_large`` count layouts per hardware row.
    """

    jobs: Jobs
    hardware: np.ndarray
    machines: np.ndarray
    considered: np.ndarray
    too_large: np.ndarray


def wide_pass(
    workload: Workload,
    hardware: pd.DataFrame,
    costs: ComputeCosts,
    *,
    most_devices: int,
    memory_margin: float,
    count: int | None = None,
    stated: Mapping[str, float] | None = None,
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
    """
    scalars = {name: np.asarray(value) for name, value in workload_columns(workload).items()}
    parts = []
    counted = np.zeros((2, len(hardware)), dtype=np.int64)
    sizes = hardware["devices_per_node"].to_numpy(int)
    for size in np.unique(sizes).tolist():
        tried = [count] if count is not None else machine_counts(size, most_devices)
        layouts = enumerate_layouts(workload, size, tried).only(stated or {})
        if len(layouts):
            rows = np.flatnonzero(sizes == size)
            block = hardware.iloc[rows]
            kept, counted[:, rows] = _evaluate(
                scalars, block, layouts, costs, memory_margin=memory_margin
            )
            parts.append(_gather(scalars, block, layouts, kept, rows))
    if not parts:
        parts = [_nothing(scalars)]
    jobs, rows, machines = zip(*parts, strict=True)
    return Shortlist(
        jobs=Jobs.concatenate(jobs),
        hardware=np.concatenate(rows),
        machines=np.concatenate(machines),
        considered=counted[0],
        too_large=counted[1],
    )


def _evaluate(
    scalars: dict[str, FloatArray],
    hardware: pd.DataFrame,
    layouts: LayoutTable,
    costs: ComputeCosts,
    *,
    memory_margin: float,
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], np.ndarray]:
    """Return (hardware row, layout row, count) of the kept pairs, and counts per hardware row."""
    columns = {name: hardware[name].to_numpy(float)[:, None] for name in HARDWARE}
    jobs = Jobs(**scalars, **_layout_columns(layouts), **columns)
    used = memory_columns(jobs).used_bytes
    fits = used <= (1 - memory_margin) * columns["memory_bytes"]
    risk = out_of_memory_probability(used, columns["memory_bytes"], memory_spread(jobs))
    step = step_columns(jobs, costs).total_s
    expected = np.where(fits, expected_time(step, risk), np.inf)
    alone = ~hardware["multi_node"].to_numpy(bool)
    kept = []
    for index, count in enumerate(layouts.counts):
        if count > 1:
            expected[alone, layouts.starts[index] : layouts.starts[index + 1]] = np.inf
        block = expected[:, layouts.starts[index] : layouts.starts[index + 1]]
        best = np.argsort(block, axis=1, kind="stable")[:, :KEEP]
        finite = np.isfinite(np.take_along_axis(block, best, axis=1))
        row, rank = np.nonzero(finite)
        kept.append((row, best[row, rank] + layouts.starts[index], np.full(len(row), count)))
    # Machines whose network is not known are tried alone only.
    single = int(layouts.starts[1]) if layouts.counts[0] == 1 else 0
    considered = np.where(alone, single, len(layouts))
    fitting = np.where(alone, fits[:, :single].sum(axis=1), fits.sum(axis=1))
    return kept, np.stack([considered, considered - fitting])


def expected_time(step_s: FloatArray, out_of_memory: FloatArray) -> FloatArray:
    """Step time with the risk of running out of memory priced in: a failed run is repeated."""
    return np.asarray(step_s / (1 - np.minimum(out_of_memory, 0.9)))


def _gather(
    scalars: dict[str, FloatArray],
    hardware: pd.DataFrame,
    layouts: LayoutTable,
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    rows: np.ndarray,
) -> tuple[Jobs, np.ndarray, np.ndarray]:
    row, layout, count = (np.concatenate(column) for column in zip(*kept, strict=True))
    columns = {name: hardware[name].to_numpy(float)[row] for name in HARDWARE}
    chosen = {name: value[0, layout] for name, value in _layout_columns(layouts).items()}
    return Jobs.from_columns(**scalars, **chosen, **columns), rows[row], count


def _layout_columns(layouts: LayoutTable) -> dict[str, FloatArray]:
    return {name: getattr(layouts, name)[None, :] for name in COLUMNS}


def _nothing(scalars: dict[str, FloatArray]) -> tuple[Jobs, np.ndarray, np.ndarray]:
    columns = dict.fromkeys((*HARDWARE, *COLUMNS), np.empty(0))
    jobs = Jobs.from_columns(**scalars, **columns)
    return jobs, np.empty(0, dtype=int), np.empty(0, dtype=int)
