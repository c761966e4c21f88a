"""How fast a profiler trace is read, whole process, against parsers that only parse.

The trace is made here and looks like those of the PyTorch profiler of today: a launch, its flow
and its kernel for each operator, shapes among the details. Every program runs in a process of its
own and in turns with the others, so that a busy machine slows all of them; the best of some runs
counts. ``orjson`` and ``ijson`` are compared where they are installed, HolisticTraceAnalysis
where ``--other-python`` is the Python of an environment that has it.
"""

from __future__ import annotations

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
RUNS: Final = 3
LARGE_RUNS: Final = 1
OPERATORS: Final = 400

HEAD: Final = """{
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017493504}],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
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

PROGRAMS: Final = {
    "advisor": "from advisor.traces import read; print(read(sys.argv[1]).step_time_s)",
    "json": "import json; print(len(json.load(open(sys.argv[1]))['traceEvents']))",
    "orjson": "import orjson; print(len(orjson.loads(open(sys.argv[1], 'rb').read())))",
    "ijson": "import ijson; print(sum(1 for e in ijson.items(open(sys.argv[1], 'rb'), "
    "'traceEvents.item')))",
    "HolisticTraceAnalysis": "from hta.trace_analysis import TraceAnalysis; "
    "print(TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir='/').get_temporal_breakdown("
    "visualize=False))",
}
MODULES: Final = {"orjson": "orjson", "ijson": "ijson", "HolisticTraceAnalysis": "hta"}


@dataclass(frozen=True, slots=True)
class Use:
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def main() -> int:
    """Make a trace, read it by all programs in turns, and show the figures."""
    parser = report.parser(__doc__ or "")
    parser.add_argument(
        "--large", action="store_true", help="a trace of 1 GB, once, without others"
    )
    parser.add_argument("--mb", type=float, default=None, help="size of the trace [MB]")
    parser.add_argument("--runs", type=int, default=None, help="runs of each program")
    parser.add_argument("--other-python", default=sys.executable, help="Python with the others")
    options = parser.parse_args()
    size_mb = options.mb or (LARGE_MB if options.large else SIZE_MB)
    runs = options.runs or (LARGE_RUNS if options.large else RUNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, size_mb * MB)
        others = [] if options.large else list(_installed(options.other_python))
        best = _best(path, ["advisor", *others], runs, options.other_python)
        rows = list(_rows(best, path.stat().st_size / MB))
    return report.show(rows, as_json=options.json)


def write_trace(path: Path, size_bytes: float) -> None:
    """Write steps until the file is as large as wanted."""
    with path.open("w", encoding="ascii") as file:
        written, number = file.write(HEAD), 0
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
        )
        for name, used in uses.items()
    }


def _run(python: str, code: str, path: Path) -> Use:
    """Run a program and return what its whole process took."""
    here = str(Path(__file__).parent.parent)
    begin = os.times().elapsed
    process = subprocess.Popen(
        [python, "-c", f"import sys; sys.path.insert(0, {here!r}); {code}", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode} of: {code}")
    wall_s = os.times().elapsed - begin
    return Use(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MB)


def _rows(best: dict[str, Use], size_mb: float) -> Iterator[report.Row]:
    ours = best["advisor"]
    yield report.Row("trace_speed.size", size_mb, "MB")
    speed = size_mb / ours.cpu_s
    yield report.within("trace_speed.cpu_speed", speed, "MB/s", BAR_MB_PER_S, float("inf"))
    yield report.Row("trace_speed.wall_speed", size_mb / ours.wall_s, "MB/s")
    yield report.at_most("trace_speed.peak_memory", ours.peak_mb, "MB", BAR_PEAK_MB)
    for name, other in best.items():
        if name != "advisor":
            yield report.Row(f"trace_speed.times_faster_than.{name}", other.cpu_s / ours.cpu_s, "x")
            yield report.Row(f"trace_speed.memory_of.{name}", other.peak_mb / ours.peak_mb, "x")


if __name__ == "__main__":
    sys.exit(main())
