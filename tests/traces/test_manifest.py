"""Real public files with right answers worked out by other means."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Final

import pytest

from advisor.core.errors import TraceError
from advisor.core.units import GIB
from advisor.testing.reference import reference_dir
from advisor.traces import Trace, read

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER: Final = "data/traces"
_REFUSED: Final = {"broken/truncated.json.gz", "broken/truncated.json", "broken/empty_events.json"}
# One change was made to a real file; what can be read is what the original says.
_ORIGINAL: Final = "kineto/mi250_minitoy_rocm62.json.gz"
_TWO_STEPS: Final = "2"


def _rows() -> dict[str, dict[str, str]]:
    folder = reference_dir()
    manifest = folder / _FOLDER / "MANIFEST.csv" if folder else None
    if manifest is None or not manifest.is_file():
        return {}
    with manifest.open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


ROWS: Final = _rows()
PARSED: Final = [name for name in ROWS if name not in _REFUSED]
# What was worked out from other files of the same run, and is not in this one.
_FROM_ELSEWHERE: Final = {
    ("wandb/wandb-metadata.json", "global_batch"),
    ("tfevents/xfusion_6xl4_rnnt.events.out.tfevents.1683859779.mlperf1.328.0", "throughput_unit"),
}


def _number(text: str) -> float | None:
    return None if not text or text.startswith("NA") else float(text)


def _check(trace: Trace, row: dict[str, str], read_as: dict[str, Any]) -> None:
    for column, (value, tolerance) in read_as.items():
        expected = _number(row[column])
        if (row["file"], column) in _FROM_ELSEWHERE:
            assert value is None, column
        elif expected is not None:
            assert value == pytest.approx(expected, **tolerance), column
        elif row[column]:  # an empty cell was not worked out, NA is not in the file
            assert value is None, column


@pytest.mark.reference
def test_the_manifest_is_there(reference: Path) -> None:
    assert (reference / _FOLDER / "MANIFEST.csv").is_file()
    assert len(ROWS) >= 60


@pytest.mark.reference
@pytest.mark.parametrize("name", PARSED)
def test_a_real_file_gives_the_right_answers(name: str, reference: Path) -> None:
    row = ROWS[name]
    expected = ROWS[_ORIGINAL] if name.startswith("broken/") else row
    trace = read(reference / _FOLDER / name)
    steps = 0.05 if expected["n_steps"] == _TWO_STEPS else 0.02
    peak = trace.peak_memory_bytes
    share = {"abs": 0.01}
    _check(
        trace,
        expected,
        {
            "answer_step_time_s": (trace.step_time_s, {"rel": steps}),
            "gpu_busy_share": (trace.gpu_busy_share, share),
            "comm_share": (trace.comm_share, share),
            "comm_exposed_share": (trace.comm_exposed_share, share),
            "gpus": (trace.gpus, {"abs": 0}),
            "peak_mem_gib": (peak if peak is None else peak / GIB, {"rel": 0.02}),
            "throughput": (trace.throughput, {"rel": 0.02}),
            "global_batch": (trace.global_batch, {"rel": 1e-3}),
        },
    )
    if expected is row:
        assert trace.format == row["format"]
        if (name, "throughput_unit") not in _FROM_ELSEWHERE:
            assert (trace.throughput_unit or "") == row["throughput_unit"]
        if trace.gpu_name:
            assert trace.gpu_name.split()[-1] in row["gpu_name"]


@pytest.mark.reference
@pytest.mark.parametrize("name", sorted(_REFUSED & set(ROWS)))
def test_a_real_file_that_cannot_be_read_says_why(name: str, reference: Path) -> None:
    said = "no events in this trace" if "empty" in name else "cut off"
    with pytest.raises(TraceError, match=said):
        read(reference / _FOLDER / name)


@pytest.mark.reference
def test_two_ranks_of_many_are_one_job(reference: Path) -> None:
    trace = read(reference / _FOLDER / "kineto/multiworker_2of128")
    assert trace.gpus == 128
    assert [row.rank for row in trace.ranks] == [0, 1]
    assert trace.step_time_s == pytest.approx(0.630512, rel=0.02)
    assert any("2–127 of 128 are missing" in text for text in trace.warnings)
