"""The layouts that are legal for a workload on machines of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.domain import Model, Workload
from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS: Final = (
    "data_parallel", "tensor_parallel", "pipeline_parallel", "zero_stage", "micro_batch",
    "accumulation", "recompute_share",
)  # fmt: skip
MOST_PIPELINE: Final = 64
MOST_MICRO_BATCH: Final = 4096


@dataclass(frozen=True, slots=True)
class LayoutTable:
    """Columns of layouts, ordered by machine count; ``starts[i]:starts[i+1]`` are of counts[i]."""

    counts: np.ndarray
    starts: np.ndarray
    data_parallel: FloatArray
    tensor_parallel: FloatArray
    pipeline_parallel: FloatArray
    zero_stage: FloatArray
    micro_batch: FloatArray
    accumulation: FloatArray
    recompute_share: FloatArray

    def __len__(self) -> int:
        return len(self.data_parallel)

    def only(self, stated: Mapping[str, float]) -> LayoutTable:
        """Return the layouts whose columns have the stated values."""
        if not stated:
            return self
        kept = np.ones(len(self), dtype=bool)
        for name, value in stated.items():
            kept &= getattr(self, name) == value
        before = np.concatenate([[0], np.cumsum(kept)])
        columns = {name: getattr(self, name)[kept] for name in COLUMNS}
        return LayoutTable(counts=self.counts, starts=before[self.starts], **columns)


def machine_counts(devices_per_node: int, most_devices: int) -> list[int]:
    """Return machine counts worth trying: 1 to 8, then powers of two and three times those."""
    most = max(0, most_devices // devices_per_node)
    steps = {2**k for k in range(most.bit_length() + 1)} | {3 * 2**k for k in range(20)}
    return sorted(n for n in steps | set(range(1, 9)) if 1 <= n <= most)


def enumerate_layouts(
    workload: Workload, devices_per_node: int, tried: Sequence[int]
) -> LayoutTable:
    """Enumerate the legal layouts for every machine count that is tried.

    Tensor parallelism stays inside a node and divides the heads; pipeline stages divide the
    layers; replicas times micro-batch divide the global batch; ZeRO-2 and 3 are not combined
    with pipelines (their gathering would repeat per micro-batch and stage).
    """
    return _enumerated(workload.model, workload.global_batch, devices_per_node, tuple(tried))


# The same table is asked for again with every change of a limit; it is not to be written to.
@lru_cache(maxsize=64)
def _enumerated(
    model: Model, batch: int, devices_per_node: int, tried: tuple[int, ...]
) -> LayoutTable:
    counts, starts, blocks = [], [0], []
    for count in tried:
        block = _layouts_of(model, batch, devices_per_node, count * devices_per_node)
        if len(block):
            counts.append(count)
            starts.append(starts[-1] + len(block))
            blocks.append(block)
    table = (np.concatenate(blocks) if blocks else np.empty((0, 7))).T.astype(float)
    table.flags.writeable = False
    return LayoutTable(np.array(counts, dtype=int), np.array(starts), *table)


def _layouts_of(model: Model, batch: int, devices_per_node: int, devices: int) -> np.ndarray:
    """Return the layouts on `devices` devices, shape (layouts, 7)."""
    rows = []
    for tensor in tensor_degrees(model, devices_per_node):
        for pipeline in pipeline_degrees(model, devices // tensor):
            if devices % (tensor * pipeline):
                continue
            data = devices // (tensor * pipeline)
            if batch % data:
                continue
            for micro in micro_batches(batch // data):
                accumulation = batch // data // micro
                if pipeline > 1 and accumulation < pipeline:
                    continue
                rows.append((data, tensor, pipeline, micro, accumulation))
    return _with_sharding_and_recompute(rows, recompute=model.is_transformer)


def _with_sharding_and_recompute(
    rows: list[tuple[int, int, int, int, int]], *, recompute: bool
) -> np.ndarray:
    if not rows:
        return np.empty((0, 7))
    data, tensor, pipeline, micro, accumulation = np.array(rows).T
    variants = []
    for zero in (0, 1, 2, 3):
        legal = (zero == 0) | ((data > 1) & ((pipeline == 1) | (zero == 1)))
        for full in (0, 1) if recompute else (0,):
            columns = (data, tensor, pipeline, np.full_like(data, zero), micro, accumulation,
                       np.full_like(data, full))  # fmt: skip
            variants.append(np.stack(columns, axis=1)[legal])
    return np.concatenate(variants)


def tensor_degrees(model: Model, devices_per_node: int) -> list[int]:
    """Return powers of two that fit into a node and divide the attention heads."""
    heads = model.heads
    degrees = [1]
    while heads and degrees[-1] * 2 <= devices_per_node and heads % (degrees[-1] * 2) == 0:
        degrees.append(degrees[-1] * 2)
    return [d for d in degrees if devices_per_node % d == 0]


def pipeline_degrees(model: Model, most: int) -> list[int]:
    """Return stage counts that divide the layers evenly; transformers only."""
    layers = model.layers
    if not model.is_transformer:
        return [1]
    return [p for p in range(1, min(most, layers, MOST_PIPELINE) + 1) if layers % p == 0]


def micro_batches(samples_per_replica: int) -> list[int]:
    """Return micro-batches that divide a replica's samples: powers of two, and all at once."""
    sizes = []
    size = 1
    while size <= min(samples_per_replica, MOST_MICRO_BATCH):
        if samples_per_replica % size == 0:
            sizes.append(size)
        size *= 2
    if samples_per_replica <= MOST_MICRO_BATCH and samples_per_replica not in sizes:
        sizes.append(samples_per_replica)
    return sizes
