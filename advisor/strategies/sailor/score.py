"""Time, cost and memory of a plan by the published formulas of Sailor's simulator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.core.units import HOUR_S

if TYPE_CHECKING:
    from advisor.strategies.sailor.columns import ColumnPlan, Member
    from advisor.strategies.sailor.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One iteration: fill, steady pace, exchange of gradients.

    ``iteration_s`` is the sum of compute, send, wait, update and exchange; ``pace_s`` is the
    slowest stage's compute and communication of one micro-batch, ``pace_send_s`` the latter.
    """

    compute_s: float
    send_s: float
    wait_s: float
    update_s: float
    exchange_s: float
    pace_s: float
    pace_send_s: float
    usd: float
    fits: bool

    @property
    def iteration_s(self) -> float:
        """One iteration [s]."""
        return self.compute_s + self.send_s + self.wait_s + self.update_s + self.exchange_s


def score(space: Space, plan: ColumnPlan) -> Score:
    """Return what the plan takes: ``(M - 1) · pace + fill + update + exchange``; no overlap."""
    stages = range(plan.stages)
    compute = [_compute_s(space, plan, stage) for stage in stages]
    send = [_send_s(space, plan, stage) for stage in stages]
    pace, slowest = max((compute[stage] + send[stage], stage) for stage in stages)
    count = plan.micro_batches(space.global_batch)
    parts = {
        "compute_s": sum(compute),
        "send_s": sum(send),
        "wait_s": (count - 1) * pace,
        "update_s": max(_update_s(space, plan, stage) for stage in stages),
        "exchange_s": max(_exchange_s(space, plan, stage) for stage in stages),
    }
    rate = sum(space.pools[pool].usd_per_h * used for pool, used in plan.devices().items())
    usd = sum(parts.values()) * rate / HOUR_S + _egress_usd(space, plan, count)
    return Score(**parts, pace_s=pace, pace_send_s=send[slowest], usd=usd, fits=_fits(space, plan))


def _members(plan: ColumnPlan, stage: int) -> set[Member]:
    return {column.members[stage] for column in plan.columns}


def _compute_s(space: Space, plan: ColumnPlan, stage: int) -> float:
    first, stop = plan.cuts[stage], plan.cuts[stage + 1]
    return max(
        float(space.costs.busy_s[space.pools[pool].gpu, tensor, plan.micro_batch][first:stop].sum())
        for pool, tensor in _members(plan, stage)
    )


def _update_s(space: Space, plan: ColumnPlan, stage: int) -> float:
    first = plan.cuts[stage]
    return max(
        float(space.costs.update_s[space.pools[pool].gpu, tensor, plan.micro_batch][first])
        for pool, tensor in _members(plan, stage)
    )


def _send_s(space: Space, plan: ColumnPlan, stage: int) -> float:
    """Activations go to the next stage, gradients to the one before; ends send twice as much."""
    if plan.stages == 1:
        return 0.0
    first, stop = plan.cuts[stage], plan.cuts[stage + 1]
    onward = float(space.costs.output_bytes[stop - 1]) * plan.micro_batch
    back = float(space.costs.output_bytes[first]) * plan.micro_batch
    last = plan.stages - 1
    if stage == 0:
        messages = [(1 if plan.stages <= 3 else 2, onward, 1)]
    elif stage == last:
        messages = [(2, back, last - 1)]
    else:
        messages = [(1, onward, stage + 1), (1, back, stage - 1)]
    return max(
        sum(
            times * space.links.message_s(
                size, space.port(*column.members[stage]), space.port(*column.members[other])
            )
            for times, size, other in messages
        )
        for column in plan.columns
    )  # fmt: skip


def _ring(plan: ColumnPlan, stage: int) -> set[tuple[int, int]]:
    """Return the pools of neighbours in the ring of a stage."""
    pools = [column.members[stage][0] for column in plan.columns]
    inside = {(pool, pool) for pool, column in zip(pools, plan.columns, strict=True)
              if column.replicas > 1}  # fmt: skip
    return inside | set(pairwise(pools))


def _exchange_s(space: Space, plan: ColumnPlan, stage: int) -> float:
    first, stop = plan.cuts[stage], plan.cuts[stage + 1]
    shards = min(space.port(*member)[2] for member in _members(plan, stage))
    size = float(space.costs.weight_bytes[first:stop].sum()) / shards
    return max(
        (
            space.links.ring_s(size, plan.data, space.port(one, 1), space.port(other, 1))
            for one, other in _ring(plan, stage)
        ),
        default=0.0,
    )


def _egress_usd(space: Space, plan: ColumnPlan, count: int) -> float:
    """Activations and gradients of every micro-batch, and the closed rings of all stages."""
    if not space.egress_usd_per_gb:
        return 0.0
    outputs, total = space.costs.output_bytes, 0.0
    for stage in range(plan.stages):
        first, stop = plan.cuts[stage], plan.cuts[stage + 1]
        weights = float(space.costs.weight_bytes[first:stop].sum())
        around = 2 * (plan.data - 1) / plan.data * weights
        ends = (plan.columns[-1], plan.columns[0])
        for one, other in [*pairwise(plan.columns), ends]:
            total += space.egress_usd(around, one.members[stage][0], other.members[stage][0])
        if stage + 1 == plan.stages:
            continue
        onward = float(outputs[stop - 1]) * plan.micro_batch * count
        back = float(outputs[stop]) * plan.micro_batch * count
        for column in plan.columns:
            here, there = column.members[stage][0], column.members[stage + 1][0]
            total += column.replicas * (
                space.egress_usd(onward, here, there) + space.egress_usd(back, there, here)
            )
    return total


def _fits(space: Space, plan: ColumnPlan) -> bool:
    """Return whether all devices are there and hold their layers and what is in flight."""
    used = plan.devices()
    if any(number > space.pools[pool].devices for pool, number in used.items()):
        return False
    return all(
        memory_bytes(space, plan, stage, member) <= space.pools[member[0]].memory_bytes
        for stage in range(plan.stages)
        for member in _members(plan, stage)
    )


def memory_bytes(space: Space, plan: ColumnPlan, stage: int, member: Member) -> float:
    """Return what a device of a stage keeps: a stage holds a micro-batch per stage behind it."""
    pool, tensor = member
    key = space.pools[pool].gpu, tensor
    own = slice(plan.cuts[stage], plan.cuts[stage + 1])
    in_flight = plan.micro_batch * (plan.stages - stage)
    return float(
        space.costs.state_bytes[key][own].sum()
        + space.costs.activation_bytes[key][own].sum() * in_flight
        + space.costs.fixed_bytes[key]
    )
