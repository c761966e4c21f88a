"""The right answers of the public traces, and how a reading is held against them.

A reading is the object that ``python -m advisor trace FILE --json`` prints. What the tolerances
are, and what the columns of the table mean, stands in the README of the reference data.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Final

import pytest

from advisor.core.units import GIB
from advisor.testing.reference import reference_dir

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER: Final = "data/traces"
# Files that are to be refused, and what is to be said of them.
REFUSED: Final = {
    "broken/truncated.json.gz": "cut off",
    "broken/truncated.json": "cut off",
    "broken/empty_events.json": "no events in this trace",
}
# One change was made to a real file; what can be read is what the original says.
_ORIGINAL: Final = "kineto/mi250_minitoy_rocm62.json.gz"
_TWO_STEPS: Final = "2"
# What was worked out from other files of the same run, and is not in this one.
_FROM_ELSEWHERE: Final = {
    ("wandb/wandb-metadata.json", "global_batch"),
    ("tfevents/xfusion_6xl4_rnnt.events.out.tfevents.1683859779.mlperf1.328.0", "throughput_unit"),
}
_SHARE: Final = (None, 0.01)  # relative and absolute error


def rows() -> dict[str, dict[str, str]]:
    """Return the rows of the table of right answers by file; empty without reference data."""
    folder = reference_dir()
    manifest = folder / FOLDER / "MANIFEST.csv" if folder else None
    if manifest is None or not manifest.is_file():
        return {}
    with manifest.open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def path_of(reference: Path, name: str) -> Path:
    """Return where a file of the table lies."""
    return reference / FOLDER / name


def expected(table: Mapping[str, dict[str, str]], name: str) -> dict[str, str]:
    """Return the right answers of a file: of a broken one, those of what it was made from."""
    return table[_ORIGINAL] if name.startswith("broken/") else table[name]


def check(found: Mapping[str, Any], table: Mapping[str, dict[str, str]], name: str) -> None:
    """Hold a reading against the right answers.

    Raises
    ------
    AssertionError
        If a number is off by more than allowed, is told where the file has none, or is missing.
    """
    row = expected(table, name)
    peak = found["peak_memory_bytes"]
    read_as: dict[str, tuple[Any, tuple[float | None, float | None]]] = {
        "answer_step_time_s": (found["step_time_s"], (step_tolerance(row), None)),
        "gpu_busy_share": (found["gpu_busy_share"], _SHARE),
        "comm_share": (found["comm_share"], _SHARE),
        "comm_exposed_share": (found["comm_exposed_share"], _SHARE),
        "gpus": (found["gpus"], (None, 0)),
        "peak_mem_gib": (None if peak is None else peak / GIB, (0.02, None)),
        "throughput": (found["throughput"], (0.02, None)),
        "global_batch": (found["global_batch"], (1e-3, None)),
    }
    for column, (value, (rel, absolute)) in read_as.items():
        right = number(row[column])
        if (row["file"], column) in _FROM_ELSEWHERE:
            assert value is None, column
        elif right is not None:
            assert value == pytest.approx(right, rel=rel, abs=absolute), column
        elif row[column]:  # an empty cell was not worked out, NA is not in the file
            assert value is None, column
    if row["file"] == name:
        assert found["format"] == row["format"]
        if (name, "throughput_unit") not in _FROM_ELSEWHERE:
            assert (found["throughput_unit"] or "") == row["throughput_unit"]
        if found["gpu_name"]:
            assert found["gpu_name"].split()[-1] in row["gpu_name"]


def step_tolerance(row: Mapping[str, str]) -> float:
    """Return the allowed relative error of a step time."""
    return 0.05 if row["n_steps"] == _TWO_STEPS else 0.02


def number(text: str) -> float | None:
    """Return the number of a cell, None where the file cannot tell it."""
    return None if not text or text.startswith("NA") else float(text)
