"""Sailor's simulator re-made from its published formulas, to judge plans of any planner.

Strati et al., SOSP 2025, arXiv 2504.17096. Written as plain loops over replicas and apart from
`advisor.strategies.sailor`, so that neither hides an error of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from advisor.testing.sailor_tables import FP32_BYTES, GLOBAL_BATCH, STATE_BYTES, fixed_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.strategies.sailor import ColumnPlan, Space
    from advisor.testing.sailor_tables import Tables

BUCKET_BYTES: Final = 5e8
MOST_PORTS: Final = 4

Group = tuple[str, str, int]  # (accelerator, zone, tensor degree)


@dataclass(frozen=True)
class Judged:
    """What the simulator says of a plan."""

    iteration_s: float
    usd: float
    fits: bool


def as_json(space: Space, plan: ColumnPlan) -> dict[str, Any]:
    """Return a plan in the form of the board's ``plan_json``."""
    stages = [
        {
            "layers": [plan.cuts[stage], plan.cuts[stage + 1] - 1],
            "replicas": [
                [space.pools[pool].gpu, space.pools[pool].zone, tensor]
                for pool, tensor in plan.stage_members(stage)
            ],
        }
        for stage in range(plan.stages)
    ]
    return {"micro_batch": plan.micro_batch, "pipelines": [{"dp": plan.data, "stages": stages}]}


def judge(tables: Tables, plan: Mapping[str, Any], available: Mapping[str, int]) -> Judged:
    """Return time, cost and whether a plan of one pipeline fits."""
    (pipeline,) = plan["pipelines"]
    size = int(plan["micro_batch"])
    stages = [
        (stage["layers"][0], stage["layers"][1], [tuple(one) for one in stage["replicas"]])
        for stage in pipeline["stages"]
    ]
    data = len(stages[0][2])
    count = math.ceil(GLOBAL_BATCH / (size * data))
    compute = [
        max(_busy_s(tables, group, size, first, last) for group in groups)
        for first, last, groups in stages
    ]
    send = [_send_s(tables, stages, place, size) for place in range(len(stages))]
    update = max(
        float(tables.times[gpu, tensor, size]["update_s"].to_numpy()[first])
        for first, _, groups in stages
        for gpu, _, tensor in groups
    )
    pace = max(one + other for one, other in zip(compute, send, strict=True))
    exchange = max(_exchange_s(tables, *stage) for stage in stages)
    iteration = (count - 1) * pace + sum(send) + sum(compute) + update + exchange
    rate = sum(
        tensor * tables.gpus[gpu]["simulator_usd_per_gpu_hour"]
        for _, _, groups in stages
        for gpu, _, tensor in groups
    )
    usd = iteration * rate / 3600 + _egress_usd(tables, stages, size * count)
    fits = _within(stages, available) and _in_memory(tables, stages, size)
    return Judged(iteration, float(usd), fits)


def _busy_s(tables: Tables, group: Group, size: int, first: int, last: int) -> float:
    gpu, _, tensor = group
    rows = tables.times[gpu, tensor, size].iloc[first : last + 1]
    return float((rows["forward_s"] + rows["backward_s"]).sum())


def _transfer_s(tables: Tables, size_bytes: float, one: Group, other: Group) -> float:
    """Time between two groups over the ports of their machines."""
    ends = [(zone, gpu, min(tensor, MOST_PORTS)) for gpu, zone, tensor in (one, other)]
    c2, c1, c0 = tables.links[(*ends[0], *ends[1])]
    x = math.log2(size_bytes / 1e6)
    return size_bytes / 1e9 / (c2 * x**2 + c1 * x + c0)


def _send_s(tables: Tables, stages: list[Any], place: int, size: int) -> float:
    if len(stages) == 1:
        return 0.0
    first, last, groups = stages[place]
    outputs = tables.memory[1]["activation_output_bytes"].to_numpy(float) * size
    slowest = 0.0
    for replica, group in enumerate(groups):
        total = 0.0
        if place == 0:
            total += (1 if len(stages) <= 3 else 2) * _transfer_s(
                tables, outputs[last], group, _peer(stages[1], replica)
            )
        elif place == len(stages) - 1:
            total += 2 * _transfer_s(
                tables, outputs[first], group, _peer(stages[place - 1], replica)
            )
        else:
            total += _transfer_s(tables, outputs[last], group, _peer(stages[place + 1], replica))
            total += _transfer_s(tables, outputs[first], group, _peer(stages[place - 1], replica))
        slowest = max(slowest, total)
    return slowest


def _peer(stage: Any, replica: int) -> Group:
    groups: list[Group] = stage[2]
    return groups[replica % len(groups)]


def _exchange_s(tables: Tables, first: int, last: int, groups: list[Group]) -> float:
    weights = float(tables.memory[1]["params_bytes"].iloc[first : last + 1].sum())
    size = weights / min(MOST_PORTS, *(tensor for _, _, tensor in groups))
    slowest, members = 0.0, len(groups)
    for one, other in set(pairwise(groups)):
        left, total = size, 0.0
        while left > 0:
            bucket = min(left, BUCKET_BYTES)
            ends = (one[0], one[1], 1), (other[0], other[1], 1)
            total += 2 * (members - 1) * _transfer_s(tables, bucket / members, *ends)
            left -= bucket
        slowest = max(slowest, total)
    return slowest


def _egress_usd(tables: Tables, stages: list[Any], samples: int) -> float:
    outputs = tables.memory[1]["activation_output_bytes"].to_numpy(float)
    weights = tables.memory[1]["params_bytes"].to_numpy(float)
    usd = 0.0
    for place, (first, last, groups) in enumerate(stages):
        zones = [zone for _, zone, _ in groups]
        around = 2 * (len(zones) - 1) / len(zones) * weights[first : last + 1].sum()
        for one, other in zip(zones, [*zones[1:], zones[0]], strict=True):
            usd += tables.egress[one, other] * around / 1e9
        for replica, zone in enumerate(zones):
            if place + 1 < len(stages):
                there = _peer(stages[place + 1], replica)[1]
                usd += tables.egress[zone, there] * outputs[last] * samples / 1e9
            if place > 0:
                there = _peer(stages[place - 1], replica)[1]
                usd += tables.egress[zone, there] * outputs[first] * samples / 1e9
    return usd


def _within(stages: list[Any], available: Mapping[str, int]) -> bool:
    used: dict[str, int] = {}
    for _, _, groups in stages:
        for gpu, zone, tensor in groups:
            used[f"{gpu}_{zone}"] = used.get(f"{gpu}_{zone}", 0) + tensor
    return all(number <= available.get(name, 0) for name, number in used.items())


def _in_memory(tables: Tables, stages: list[Any], size: int) -> bool:
    for place, (first, last, groups) in enumerate(stages):
        for gpu, _, tensor in set(groups):
            rows = tables.memory[tensor].iloc[first : last + 1]
            used = rows["params_bytes"].sum() / FP32_BYTES * STATE_BYTES + fixed_bytes(tensor)
            in_flight = size * (len(stages) - place)
            used += rows["activation_memory_bytes"].sum() * in_flight
            if used > tables.gpus[gpu]["simulator_memory_limit_bytes"]:
                return False
    return True
