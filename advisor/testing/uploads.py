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
    """Write such a trace of about a size, event by event."""
    per_kernel = 167
    kernels = max(1, int(size_bytes / per_kernel / 10))
    head = json.dumps({"schemaVersion": 1, "deviceProperties": [_DEVICE]})[:-1]
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{head}, "traceEvents": [\n')
        for number, event in enumerate(profiler_events(kernels=kernels)):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}\n")


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
