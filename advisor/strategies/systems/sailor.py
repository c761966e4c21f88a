"""Sailor: every stage of a pipeline on the accelerators that suit it, tensor groups in nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import pandas as pd

from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import GB
from advisor.domain import Workload
from advisor.domain.mixed import DeviceGroup, DeviceShare, Inventory, Label, MixParts
from advisor.predictor.collectives import LINK_EFFICIENCY, NETWORK_EFFICIENCY, ring_all_reduce_s
from advisor.predictor.workload_columns import BYTES_PER_ELEMENT
from advisor.strategies.exchange import hop_s
from advisor.strategies.replicas import memory_of, recompute_candidates, sample_s
from advisor.strategies.sailor import (
    Found,
    LayerCosts,
    Links,
    Pool,
    Space,
    memory_bytes,
    search,
)
from advisor.strategies.sailor.space import PORTS
from advisor.strategies.speeds import MEMORY_MARGIN
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes

if TYPE_CHECKING:
    from advisor.strategies.speeds import Speeds

ZONE: Final = "here"
MICRO_BATCHES: Final = (1, 2, 4, 8, 16)
# All-reduces of a tensor-parallel layer per micro-batch: two forward, two backward.
ALL_REDUCES: Final = 4


@STRATEGIES.register("sailor")
class Sailor(Tabled):
    """Data × pipeline × tensor parallelism, layers cut by the speed of what runs them."""

    title: ClassVar[str] = "Sailor"
    paper: ClassVar[str] = "Strati et al., SOSP 2025, arXiv 2504.17096"
    label: ClassVar[Label] = "reconstructed"

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """See `Strategy`."""
        if not workload.model.is_transformer:
            return "it places transformer layers; this model has none"
        return "" if inventory.accelerators > 1 else "there is one accelerator only"

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:  # noqa: ARG002
        """Return the candidates: activations kept, or the forward pass run again."""
        return recompute_candidates()

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """See `Strategy`."""
        return with_outcomes(
            candidates, [_outcome(speeds, float(one)) for one in candidates["recompute"]]
        )


def space_of(speeds: Speeds, recompute: float) -> Space:
    """Return the job and its devices as the planner takes them: equal layers, one zone."""
    groups = speeds.inventory.groups
    layers, workload = speeds.layers, speeds.workload
    boundary = workload.model.boundary_elements_per_sample * BYTES_PER_ELEMENT[workload.precision]
    sizes = [size for size in MICRO_BATCHES if size <= workload.global_batch]
    busy, state, kept, fixed = {}, {}, {}, {}
    for group in groups:
        memory = memory_of(speeds, group, recompute)
        for tensor in tensor_degrees(workload, group):
            key = group.name, tensor
            state[key] = np.full(layers, memory.state_bytes / layers / tensor)
            kept[key] = np.full(layers, memory.sample_bytes / layers / tensor)
            fixed[key] = memory.fixed_bytes
            for size in sizes:
                whole = sample_s(speeds, group, size, recompute) / layers / tensor
                talk = ring_all_reduce_s(
                    boundary * size, tensor, _inside(group), hop_s(_one(group))
                )
                busy[(*key, size)] = np.full(layers, whole + ALL_REDUCES * float(talk))
    weights = workload.trainable_params * BYTES_PER_ELEMENT[workload.precision]
    return Space(
        pools=tuple(_pool(group) for group in groups),
        costs=LayerCosts(
            busy_s=busy,
            update_s={key: np.zeros(layers) for key in busy},
            output_bytes=np.full(layers, float(boundary)),
            weight_bytes=np.full(layers, weights / layers),
            state_bytes=state,
            activation_bytes=kept,
            fixed_bytes=fixed,
        ),
        links=_links(speeds.inventory),
        global_batch=workload.global_batch,
    )


def tensor_degrees(workload: Workload, group: DeviceGroup) -> list[int]:
    """Return the powers of two that divide the node and the attention heads."""
    nodes, heads = group.accelerators_per_machine, workload.model.heads
    return [degree for degree in (1, 2, 4, 8) if nodes % degree == 0 and heads % degree == 0]


def _inside(group: DeviceGroup) -> float:
    return group.link_bytes_per_s * LINK_EFFICIENCY


def _one(group: DeviceGroup) -> Inventory:
    """Return one machine of a group."""
    return Inventory(groups=(group.model_copy(update={"machines": 1}),))


def _pool(group: DeviceGroup) -> Pool:
    return Pool(
        zone=ZONE,
        gpu=group.name,
        devices=group.accelerators,
        devices_per_node=group.accelerators_per_machine,
        memory_bytes=(1 - MEMORY_MARGIN) * group.memory_bytes,
    )


def _links(inventory: Inventory) -> Links:
    """Return links of constant speed: a machine's network shared by its devices, or its link."""
    fits = {}
    for one in inventory.groups:
        for other in inventory.groups:
            for number in PORTS:
                for peer in PORTS:
                    ends = (one, number), (other, peer)
                    rate = min(_port_bytes_per_s(inventory, *end) for end in ends)
                    fits[(ZONE, one.name, number), (ZONE, other.name, peer)] = (0.0, 0.0, rate / GB)
    return Links(fits)


def _port_bytes_per_s(inventory: Inventory, group: DeviceGroup, number: int) -> float:
    if inventory.machines == 1:
        return _inside(group)
    share = min(number / group.accelerators_per_machine, 1.0)
    return group.network_bytes_per_s * NETWORK_EFFICIENCY * share


def _outcome(speeds: Speeds, recompute: float) -> Outcome | None:
    space = space_of(speeds, recompute)
    try:
        found = search(space)
    except NoFeasiblePlanError:
        return None
    plan = found.plan
    tensor = sorted({degree for column in plan.columns for _, degree in column.members})
    note = f"{plan.data} × {plan.stages} stages, tensor {', '.join(str(one) for one in tensor)}"
    return Outcome(
        parts=_parts(space, found),
        log_half_width=speeds.log_half_width(speeds.inventory),
        shares=_shares(speeds, space, found),
        note=note + (", full recompute" if recompute else ""),
    )


def _parts(space: Space, found: Found) -> MixParts:
    """Return the step by the stage that sets the pace; the rest of filling is its bubble."""
    scored, count = found.score, found.plan.micro_batches(space.global_batch)
    busy = count * (scored.pace_s - scored.pace_send_s)
    sent = count * scored.pace_send_s + scored.exchange_s
    return MixParts(
        compute_s=busy,
        exposed_communication_s=sent,
        bubble_s=max(scored.iteration_s - busy - sent, 0.0),
    )


def _shares(speeds: Speeds, space: Space, found: Found) -> tuple[DeviceShare, ...]:
    plan = found.plan
    batch = space.global_batch / plan.data
    count = plan.micro_batches(space.global_batch)
    shares = []
    for stage in range(plan.stages):
        layers = plan.cuts[stage + 1] - plan.cuts[stage]
        members = plan.stage_members(stage)
        for pool, tensor in sorted(set(members)):
            group = speeds.inventory.groups[pool]
            one = space.costs.busy_s[group.name, tensor, plan.micro_batch][0]
            shares.append(DeviceShare(
                group=group.name,
                accelerator=group.accelerator,
                devices=members.count((pool, tensor)) * tensor,
                batch=batch / tensor,
                micro_batch=plan.micro_batch,
                micro_batches=count,
                layers=layers,
                state_share=layers / space.costs.layers / tensor,
                busy_share=min(layers * float(one) * count / found.score.iteration_s, 1.0),
                memory_bytes=memory_bytes(space, plan, stage, (pool, tensor)),
                capacity_bytes=group.memory_bytes,
            ))  # fmt: skip
    return (*shares, *_idle(speeds.inventory, plan.devices()))


def _idle(inventory: Inventory, used: dict[int, int]) -> list[DeviceShare]:
    return [
        DeviceShare(
            group=group.name, accelerator=group.accelerator,
            devices=group.accelerators - used.get(number, 0), batch=0, micro_batch=0,
            micro_batches=0, state_share=0, busy_share=0, memory_bytes=0,
            capacity_bytes=group.memory_bytes,
        )
        for number, group in enumerate(inventory.groups)
        if group.accelerators > used.get(number, 0)
    ]  # fmt: skip
