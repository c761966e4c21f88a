"""Small binary files and timelines, made here: what they hold is known, so is what must be read."""

from __future__ import annotations

import sqlite3
import struct
from typing import Any

from advisor.traces.protobuf import masked_crc32c

Json = dict[str, Any]


def nsys(*, steps: bool = True, named: bool = True, suffix: str = "") -> bytes:
    """Return an export of 4 steps of 1 ms: 0.5 ms kernel, 0.3 ms nccl of which 0.1 ms is hidden."""
    database = sqlite3.connect(":memory:")
    database.executescript(
        """
        CREATE TABLE StringIds (id INT, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce'), (3, 'step 3');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
            start INT, end INT, deviceId INT, streamId INT, correlationId INT, shortName INT
        );
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT);
        CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, textId INT, globalTid INT);
        CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, totalMemory INT);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 85000000000);
        """
    )
    for n in range(4):
        at = 1_000_000 * n
        rows = [(at, at + 500_000, 0, 7, n, 1), (at + 400_000, at + 700_000, 0, 20, n, 2)]
        database.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?, ?)", rows
        )
    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3950000, 4000000, 0, 7)")
    for n in range(4):
        text = (None, 3) if n == 3 else (f"step {n}", None)
        row = (1_000_000 * n, 1_000_000 * n + 10, *text, 1)
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?)", row)
    if not steps:
        database.execute("DROP TABLE NVTX_EVENTS")
    elif suffix:
        database.execute(f"ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS{suffix}")
    if not named:
        database.execute("DROP TABLE TARGET_INFO_GPU")
    database.commit()
    return database.serialize()


def record(data: bytes) -> bytes:
    """Return a TFRecord."""
    length = struct.pack("<Q", len(data))
    return (
        length
        + struct.pack("<I", masked_crc32c(length))
        + data
        + struct.pack("<I", masked_crc32c(data))
    )


def varint(value: int) -> bytes:
    """Return a number in Protocol Buffers' way."""
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def scalar(tag: str, step: int, wall_s: float, value: float) -> bytes:
    """Return the record of a scalar."""
    text = tag.encode()
    entry = b"\x0a" + varint(len(text)) + text + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + varint(len(entry)) + entry
    event = b"\x09" + struct.pack("<d", wall_s) + b"\x10" + varint(step)
    return record(event + b"\x2a" + varint(len(summary)) + summary)


VERSION = record(b"\x09" + struct.pack("<d", 1.0) + b"\x1a\x0dbrain.Event:2")


def epochs() -> bytes:
    """Return the losses of four epochs, as Keras writes them."""
    return VERSION + b"".join(scalar("epoch_loss", i, 1e9 + 60 * i, 1 / (i + 1)) for i in range(4))


def tfevents(throughput: float = 64.0, steps: tuple[int, ...] = (10, 20, 30, 40)) -> bytes:
    """Return 32 samples a step, 0.5 s a step: 64 samples/s, logged as `throughput`."""
    return VERSION + b"".join(
        scalar("train/throughput", step, 1e9 + 0.5 * step, throughput)
        + scalar("train/step_time", step, 1e9 + 0.5 * step, 32 / throughput)
        for step in steps
    )


def tf1_timeline(runs: int = 1) -> Json:
    """Return 10 ms of which the GPU computes 4 ms on one stream and copies 1 ms."""
    names = {
        1: "/job:localhost/replica:0/task:0/cpu:0 Compute",
        2: "/job:localhost/replica:0/task:0/gpu:0 Compute",
        3: "/gpu:0/stream:all Compute",
        4: "/gpu:0/stream:12 Compute",
        5: "/gpu:0/memcpy Compute",
    }
    rows: list[tuple[int, str, float, float]] = []
    for n in range(runs):
        at = 10_000.0 * n
        rows += [
            (1, "input", at, 100),
            (2, "dense/MatMul", at + 100, 9900),
            (3, "dense/MatMul", at + 200, 4000),
            (4, "dense/MatMul", at + 200, 4000),
            (5, "input", at + 9000, 1000),
        ]
    events: list[Json] = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        for pid, name in names.items()
    ]
    events += [
        {"ph": "X", "cat": "Op", "name": "Op", "pid": pid, "tid": 0, "ts": ts, "dur": dur}
        | {"args": {"name": name, "op": "Op"}}
        for pid, name, ts, dur in rows
    ]
    return {"traceEvents": events}


def xla_trace() -> Json:
    """Return three steps of 1 ms on one GPU: 0.6 ms of kernels, 0.2 ms all-reduce alone."""
    events: list[Json] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}},
        {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "/host:CPU"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Steps"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "Stream #1(C)"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "XLA Ops"}},
    ]
    for n in range(3):
        at = 1000.0 * n
        rows = [(1, str(n), 0, 1000), (2, "fusion", 0, 600), (3, "fusion", 0, 600)]
        rows += [(2, "ncclDevKernel_AllReduce", 600, 200)]
        events += [
            {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": at + ts, "dur": dur}
            for tid, name, ts, dur in rows
        ]
        events += [{"ph": "X", "pid": 2, "tid": 9, "name": "python", "ts": at, "dur": 900.0}]
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


XPLANE = b"\x0a\x11\x08\x01\x12\x0d/device:GPU:0"
