"""The search written down plainly: loops, one candidate at a time, no tricks."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.predictor.baseline import step_columns
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, memory_spread, out_of_memory_probability
from advisor.predictor.workload_columns import workload_columns
from advisor.search.wide import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from advisor.domain import Workload
    from advisor.predictor.compute import ComputeCosts

LayoutRow = tuple[int, int, int, int, int, int, int]


def legal_layouts(  # noqa: C901 - the rules one below the other, not clever
    workload: Workload, per_node: int, devices: int
) -> Iterator[LayoutRow]:
    """Yield (data, tensor, pipeline, zero, micro, accumulation, recompute) by trying everything."""
    model, batch = workload.model, workload.global_batch
    for tensor, pipeline in itertools.product(range(1, per_node + 1), range(1, 65)):
        if devices % (tensor * pipeline):
            continue
        data = devices // (tensor * pipeline)
        if tensor > 1 and (tensor & (tensor - 1) or not model.heads or model.heads % tensor):
            continue
        if per_node % tensor or model.layers % pipeline or batch % data:
            continue
        if pipeline > 1 and not model.heads:
            continue
        for micro in range(1, min(batch // data, 4096) + 1):
            whole = micro == batch // data
            if (batch // data) % micro or (micro & (micro - 1) and not whole):
                continue
            accumulation = batch // data // micro
            if pipeline > 1 and accumulation < pipeline:
                continue
            for zero, recompute in itertools.product(range(4), (0, 1)):
                if zero and (data == 1 or (pipeline > 1 and zero > 1)):
                    continue
                if recompute and not model.heads:
                    continue
                yield data, tensor, pipeline, zero, micro, accumulation, recompute


@dataclass
class Found:
    """Best expected time of each (hardware row, count), and the counts per hardware row."""

    best: dict[tuple[int, int], float]
    considered: list[int]
    too_large: list[int]


def plain_search(
    workload: Workload, hardware: pd.DataFrame, costs: ComputeCosts, counts: dict[int, list[int]],
    memory_margin: float,
) -> Found:  # fmt: skip
    """Evaluate every candidate by itself; `counts` are those tried by devices per node."""
    fixed = workload_columns(workload)
    found = Found({}, [0] * len(hardware), [0] * len(hardware))
    for position, machine in enumerate(hardware.to_dict("records")):
        per_node = int(machine["devices_per_node"])
        for count in counts[per_node]:
            if count > 1 and not machine["multi_node"]:
                continue
            for row in legal_layouts(workload, per_node, count * per_node):
                found.considered[position] += 1
                time = expected(fixed, machine, row, costs, memory_margin)
                found.too_large[position] += time is None
                if time is not None:
                    key = position, count
                    found.best[key] = min(time, found.best.get(key, math.inf))
    return found


def expected(
    fixed: dict[str, float], machine: dict[str, float], row: LayoutRow, costs: ComputeCosts,
    memory_margin: float,
) -> float | None:  # fmt: skip
    """Return the step time over the chance that it fits, None where it is too large."""
    data, tensor, pipeline, zero, micro, accumulation, recompute = row
    job = Jobs.from_columns(
        **fixed, **{name: machine[name] for name in HARDWARE}, data_parallel=data,
        tensor_parallel=tensor, pipeline_parallel=pipeline, zero_stage=zero, micro_batch=micro,
        accumulation=accumulation, recompute_share=recompute,
    )  # fmt: skip
    used = memory_columns(job).used_bytes
    if used[0] > (1 - memory_margin) * machine["memory_bytes"]:
        return None
    capacity = np.array([machine["memory_bytes"]])
    risk = out_of_memory_probability(used, capacity, memory_spread(job))[0]
    return float(step_columns(job, costs).total_s[0] / (1 - min(risk, 0.9)))
