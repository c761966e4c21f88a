"""Small files that say what a run did, and some that are no traces or made to do harm."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

MAIN_KEYS = [
    "format", "step_time_s", "gpu_busy_share", "comm_share", "comm_exposed_share", "gpus",
    "gpu_name", "peak_memory_bytes", "global_batch", "throughput", "throughput_unit", "warnings",
]  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def megatron(step_s: float = 2.0, steps: int = 6) -> str:
    """Return a log of so many steps on 16 accelerators that it does not name."""
    head = """\
using world size: 16, data-parallel size: 2, tensor-model-parallel size: 4, \
pipeline-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  global_batch_size ............................... 128
  micro_batch_size ................................ 2
  seq_length ...................................... 2048
  world_size ...................................... 16
"""
    lines = [
        f" iteration {i:8}/    1000 | consumed samples: {128 * i} | "
        f"elapsed time per iteration (ms): {step_s * 1e3:.1f} | "
        f"learning rate: 1.0E-04 | global batch size:   128 | lm loss: 2.0 |"
        for i in range(1, steps + 1)
    ]
    return head + "\n".join(lines) + "\n"


def kineto() -> str:
    """Return a PyTorch trace of three steps of 1 ms on one of two A100, busy for 750 µs each."""
    events: list[dict[str, Any]] = []
    for n in range(3):
        start = 1e6 + 1000 * n
        step = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1,
                "tid": 1, "ts": start, "dur": 1000}  # fmt: skip
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                "ts": start + 5, "dur": 5, "args": {"correlation": n}}  # fmt: skip
        run = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start + 100,
               "dur": 750, "args": {"device": 0, "stream": 7, "correlation": n}}  # fmt: skip
        events += [step, call, run]
    device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_000_000_000}
    return json.dumps(
        {
            "schemaVersion": 1, "deviceProperties": [device],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
            "traceEvents": events,
        },
        indent=1,
    )  # fmt: skip


def table(*rows: str) -> str:
    """Return a table of runs."""
    header = "model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision"
    return "\n".join((header, *rows)) + "\n"


def bomb() -> bytes:
    """Return a gzip file of blanks that is far larger unpacked."""
    part = gzip.compress(b'{"traceEvents": [' + b" " * 2**26)
    blanks = gzip.compress(b" " * 2**26)
    return part + blanks * 40


class Marker:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


def harmful(marker: Path) -> bytes:
    """Return a saved object that makes the marker file when it is loaded."""
    return pickle.dumps(Marker(marker))
