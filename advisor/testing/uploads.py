"""Files to upload: small traces whose numbers are known, and files that no reader may take."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STEP_US: Final = 100_000.0
_DEVICE: Final = {"id": 0, "name": "Tesla V100-SXM2-16GB", "totalGlobalMem": 16_945_512_448}


def profiler_events(
    steps: int = 10, kernels: int = 10, busy: float = 0.8
) -> Iterator[dict[str, Any]]:
    """Yield the events of a run of 0.1 s a step, of which kernels take the share `busy`."""
    for step in range(steps):
        begin = step * STEP_US
        yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
               "tid": 1, "ts": begin, "dur": STEP_US}  # fmt: skip
        each = STEP_US / kernels
        for index in range(kernels):
            yield {"ph": "X", "cat": "kernel", "name": "volta_sgemm_128x128_nn", "pid": 0,
                   "tid": 7, "ts": round(begin + index * each, 3), "dur": round(busy * each, 3),
                   "args": {"device": 0, "stream": 7}}  # fmt: skip


def profiler_trace(**changes: Any) -> bytes:
    """Return a trace of the PyTorch profiler: one V100, 0.1 s a step, busy for 80 % of it."""
    head = {"schemaVersion": 1, "deviceProperties": [_DEVICE],
            "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}}  # fmt: skip
    return json.dumps(head | {"traceEvents": list(profiler_events())} | changes).encode()


def write_large_trace(path: Path, size_bytes: float) -> None:
    """Write such a trace of about a size, event by event, mixed as the profiler mixes them.

    Beside each kernel stand the operator and the call that launched it, and their arrows.
    """
    head = json.dumps({"schemaVersion": 1, "deviceProperties": [_DEVICE]})[:-1]
    sample = sum(len(json.dumps(event)) + 2 for event in _launched(_KERNEL, 1))
    kernels = max(1, int(size_bytes / sample / 10))
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{head}, "traceEvents": [\n')
        for number, event in enumerate(profiler_events(kernels=kernels)):
            events = _launched(event, number) if event["cat"] == "kernel" else [event]
            file.writelines((",\n" if number else "") + json.dumps(one) for one in events)
        file.write("\n]}\n")


_KERNEL: Final = {"ph": "X", "cat": "kernel", "name": "volta_sgemm_128x128_nn", "pid": 0, "tid": 7,
                  "ts": 999999.123, "dur": 123.456, "args": {"device": 0, "stream": 7}}  # fmt: skip


def _launched(kernel: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Return a kernel with what the profiler writes beside it."""
    start = kernel["ts"]
    details = {"External id": number, "queued": 0, "context": 1, "correlation": number,
               "registers per thread": 128, "shared memory": 16384, "blocks per SM": 3.2,
               "warps per SM": 25.6, "grid": [64, 4, 1], "block": [256, 1, 1],
               "est. achieved occupancy %": 25}  # fmt: skip
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": start,
                "dur": 1.5, "args": {"External id": number, "Record function id": 0,
                                     "Ev Idx": number, "Concrete Inputs": ["", ""],
                                     "Input type": ["float", "float"],
                                     "Input Dims": [[64, 512], [512, 512]]}}  # fmt: skip
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
              "ts": start, "dur": 1.0, "args": {"External id": number, "cbid": 211,
                                                "correlation": number}}  # fmt: skip
    arrow = {"id": number, "cat": "ac2g", "name": "ac2g", "ts": start}
    return [operator, launch, kernel | {"args": kernel["args"] | details},
            arrow | {"ph": "s", "pid": 1, "tid": 1},
            arrow | {"ph": "f", "pid": 0, "tid": 7, "bp": "e"}]  # fmt: skip


class _Touch:
    """Unpickling this writes a file."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self._marker), "w"))


def bad_files(marker: Path) -> dict[str, bytes]:
    """Return files that are to be refused, by name; unpickling one of them would write `marker`."""
    csv = "model,gpu_name,gpus,step_time_s,global_batch,usd_per_h\n"
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as file:
        for _ in range(90):
            file.write(bytes(2**20))
    return {
        "empty.json": b"",
        "picture.json": b"\x89PNG\r\n\x1a\n" + bytes(64),
        "bomb.json.gz": bomb.getvalue(),
        "run.pt": pickle.dumps(_Touch(marker)),
        "price.csv": f"{csv}ResNet-50,T4,1,0.4,128,NaN\n".encode(),
        "column.csv": b"model,gpu_name,gpus,step_time_s,frobs\nResNet-50,T4,1,0.4,7\n",
    }
