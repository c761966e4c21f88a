"""How fast a profiler trace is read, whole process, against parsers that only parse.

The trace is made here and looks like those of the PyTorch profiler of today: a launch, its flow
and its kernel for each operator, shapes among the details. Every program runs in a process of its
own and in turns with the others, so that a busy machine slows all of them; the best of some runs
counts. ``orjson`` and ``ijson`` are compared where they are installed, HolisticTraceAnalysis
where ``--other-python`` is the Python of an environment that has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import report

if TYPE_CHECKING:
    from collections.abc import Iterator

MB: Final = 1e6
SIZE_MB: Final = 225.0
LARGE_MB: Final = 1000.0
BAR_MB_PER_S: Final = 200.0
BAR_PEAK_MB: Final = 300.0
BAR_TIMES_HTA: Final = 10.0
# HolisticTraceAnalysis leaves out the last step, we do not.
BAR_DIFFERENCE: Final = 0.3
RANK_MB: Final = 60.0
RUNS: Final = 3
OPERATORS: Final = 400

HEAD: Final = """{
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017493504}],
  "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 8},
  "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": [
"""
TAIL: Final = '\n  ],\n  "traceName": "trace.json"\n}\n'
KERNELS: Final = (
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 64>>(p)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
)
OPERATOR: Final = """  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4100, "tid": 4100,
    "ts": {host:.3f}, "dur": 21.417,
    "args": {{
      "External id": {id}, "Record function id": 0, "Concrete Inputs": ["", "", ""],
      "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"],
      "Input Dims": [[8, 2048, 4096], [4096, 4096], [4096]], "Ev Idx": {id}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4100, "tid": 4100,
    "ts": {launch:.3f}, "dur": 4.811,
    "args": {{
      "External id": {id}, "cbid": 211, "correlation": {id}
    }}
  }},
  {{
    "ph": "s", "id": {id}, "pid": 4100, "tid": 4100, "ts": {launch:.3f},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "{kernel}", "pid": 0, "tid": {stream},
    "ts": {device:.3f}, "dur": {length:.3f},
    "args": {{
      "External id": {id}, "queued": 0, "device": 0, "context": 1,
      "stream": {stream}, "correlation": {id},
      "registers per thread": 168, "shared memory": 213008, "blocks per SM": 0.969697,
      "warps per SM": 11.636364, "grid": [128, 1, 1], "block": [384, 1, 1],
      "est. achieved occupancy %": 18
    }}
  }},
  {{
    "ph": "f", "id": {id}, "pid": 0, "tid": {stream}, "ts": {device:.3f},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }}"""
STEP: Final = """  {{
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{number}", "pid": 4100, "tid": 4100,
    "ts": {ts:.3f}, "dur": 20000.0,
    "args": {{
      "External id": {number}, "Record function id": 0, "Ev Idx": {number}
    }}
  }}"""

# Both say in percent how long the device had nothing to do, computed, and did anything else.
OURS: Final = """
import json
from advisor.traces import read
parts = read(sys.argv[1]).parts
shares = parts.idle_s, parts.compute_s, parts.comm_exposed_s + parts.memcpy_s
print(json.dumps([100 * share / parts.window_s for share in shares]))
"""
HTA: Final = """
import json
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir='/')
row = trace.get_temporal_breakdown(visualize=False).iloc[0]
names = 'idle_time_pctg', 'compute_time_pctg', 'non_compute_time_pctg'
print(json.dumps([float(row[name]) for name in names]))
"""
JOB: Final = """
import time
from advisor.traces import Limits, read
took = []
for processes in (1, 8):
    begin = time.perf_counter()
    job = read(sys.argv[1], limits=Limits(processes=processes))
    took.append(time.perf_counter() - begin)
    assert len(job.ranks) == 8
print(json.dumps(took))
"""
PROGRAMS: Final = {
    "advisor": OURS,
    "json": "import json; print(len(json.load(open(sys.argv[1]))['traceEvents']))",
    "orjson": "import orjson; print(len(orjson.loads(open(sys.argv[1], 'rb').read())))",
    "ijson": "import ijson; print(sum(1 for e in ijson.items(open(sys.argv[1], 'rb'), "
    "'traceEvents.item')))",
    "HolisticTraceAnalysis": HTA,
}
MODULES: Final = {"orjson": "orjson", "ijson": "ijson", "HolisticTraceAnalysis": "hta"}


@dataclass(frozen=True, slots=True)
class Use:
    """What a process took, and the last line that it printed."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    said: str


def main() -> int:
    """Make traces, read them by all programs in turns, and show the figures."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--only", choices=("small", "large", "ranks"), help="one part alone")
    parser.add_argument("--mb", type=float, default=SIZE_MB, help="size of the small trace [MB]")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each program")
    parser.add_argument("--other-python", default=sys.executable, help="Python with the others")
    options = parser.parse_args()
    rows: list[report.Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only in (None, "small"):
            rows += _against_others(folder, options.mb, options.runs, options.other_python)
        if options.only in (None, "large"):
            rows += _of_large(folder)
        if options.only in (None, "ranks"):
            rows += _of_ranks(folder)
    return report.show(rows, as_json=options.json)


def _against_others(
    folder: Path, size_mb: float, runs: int, other_python: str
) -> Iterator[report.Row]:
    path = folder / "trace.json"
    write_trace(path, size_mb * MB)
    best = _best(path, ["advisor", *_installed(other_python)], runs, other_python)
    ours = best["advisor"]
    yield from _own_rows("trace_speed", ours, path.stat().st_size / MB)
    for name, other in best.items():
        if name == "advisor":
            continue
        bar = BAR_TIMES_HTA if name == "HolisticTraceAnalysis" else None
        figure = f"trace_speed.times_faster_than.{name}"
        yield report.at_least(figure, other.cpu_s / ours.cpu_s, "x", bar)
        yield report.Row(f"trace_speed.memory_of.{name}", other.peak_mb / ours.peak_mb, "x")
        if name == "HolisticTraceAnalysis":
            pairs = zip(json.loads(ours.said), json.loads(other.said), strict=True)
            most = max(abs(mine - theirs) for mine, theirs in pairs)
            figure = f"trace_speed.largest_difference_to.{name}"
            yield report.at_most(figure, most, "percentage points", BAR_DIFFERENCE)


def _of_large(folder: Path) -> Iterator[report.Row]:
    path = folder / "large.json"
    write_trace(path, LARGE_MB * MB)
    ours = _best(path, ["advisor"], 1, sys.executable)["advisor"]
    yield from _own_rows("trace_speed.large", ours, path.stat().st_size / MB)


def _own_rows(figure: str, ours: Use, size_mb: float) -> Iterator[report.Row]:
    yield report.Row(f"{figure}.size", size_mb, "MB")
    speed = size_mb / ours.cpu_s
    yield report.at_least(f"{figure}.cpu_speed", speed, "MB/s", BAR_MB_PER_S)
    yield report.Row(f"{figure}.wall_speed", size_mb / ours.wall_s, "MB/s")
    yield report.at_most(f"{figure}.peak_memory", ours.peak_mb, "MB", BAR_PEAK_MB)


def _of_ranks(folder: Path) -> Iterator[report.Row]:
    """Read a job of 8 ranks in one process and side by side; idle processors are what helps."""
    job = folder / "job"
    job.mkdir()
    for rank in range(8):
        write_trace(job / f"rank{rank}.json", RANK_MB * MB, rank)
    alone_s, together_s = json.loads(_run(sys.executable, JOB, job).said)
    yield report.Row("trace_speed.ranks.one_by_one", alone_s, "s")
    yield report.Row("trace_speed.ranks.side_by_side", together_s, "s")
    yield report.Row("trace_speed.ranks.speed_up", alone_s / together_s, "x")
    yield report.Row("trace_speed.ranks.load", os.getloadavg()[0], "waiting processes")


def write_trace(path: Path, size_bytes: float, rank: int = 0) -> None:
    """Write steps until the file is as large as wanted."""
    with path.open("w", encoding="ascii") as file:
        written, number = file.write(HEAD % rank), 0
        while written < size_bytes:
            written += file.write((",\n" if number else "") + _step(number))
            number += 1
        file.write(TAIL)


def _step(number: int) -> str:
    """Return a step of 20 ms on the host, behind which the device lags."""
    begin = 5e6 + 20_000.0 * number
    events = [STEP.format(number=number, ts=begin)]
    for i in range(OPERATORS):
        host = begin + 49.0 * i
        kernel = KERNELS[i % len(KERNELS)]
        place = {"stream": 20 if kernel.startswith("nccl") else 7, "kernel": kernel}
        times = {"host": host, "launch": host + 3, "device": host + 300, "length": 41.0}
        events.append(OPERATOR.format(id=number * OPERATORS + i, **times, **place))
    return ",\n".join(events)


def _installed(python: str) -> Iterator[str]:
    yield "json"
    for name, module in MODULES.items():
        code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
        if subprocess.run([python, "-c", code], check=False).returncode == 0:
            yield name


def _best(path: Path, names: list[str], runs: int, other_python: str) -> dict[str, Use]:
    """Run all programs in turns, and return the least each took."""
    uses: dict[str, list[Use]] = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            python = other_python if name in MODULES else sys.executable
            uses[name].append(_run(python, PROGRAMS[name], path))
    return {
        name: Use(
            min(use.wall_s for use in used),
            min(use.cpu_s for use in used),
            min(use.peak_mb for use in used),
            used[0].said,
        )
        for name, used in uses.items()
    }


def _run(python: str, code: str, path: Path) -> Use:
    """Run a program and return what its whole process took."""
    here = str(Path(__file__).parent.parent)
    begin = os.times().elapsed
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [python, "-c", f"import json, sys; sys.path.insert(0, {here!r})\n{code}", str(path)],
            stdout=out,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        out.seek(0)
        said = out.read().decode().strip()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode} of: {code}")
    wall_s, cpu_s = os.times().elapsed - begin, used.ru_utime + used.ru_stime
    return Use(wall_s, cpu_s, used.ru_maxrss * 1024 / MB, said.rpartition("\n")[2])


if __name__ == "__main__":
    sys.exit(main())
