"""Zorse: sharded data parallelism in groups of near devices, a pipeline between the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import pandas as pd

from advisor.domain import Workload
from advisor.domain.mixed import DeviceGroup, DeviceShare, Inventory, Label, MixParts
from advisor.predictor.collectives import LINK_EFFICIENCY, NETWORK_EFFICIENCY
from advisor.predictor.workload_columns import BYTES_PER_ELEMENT
from advisor.strategies.speeds import MEMORY_MARGIN
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes
from advisor.strategies.zorse_planner import Group, Stack, Staged, plan_stages

if TYPE_CHECKING:
    from advisor.strategies.speeds import Speeds

MOST_STAGES: Final = 16
MOST_MICRO_BATCH: Final = 64

Members = tuple[tuple[int, int], ...]  # (position of the inventory's group, machines of it)


@STRATEGIES.register("zorse")
class Zorse(Tabled):
    """Unequal micro-batches inside a group, unequal layers between groups."""

    title: ClassVar[str] = "Zorse"
    paper: ClassVar[str] = "Guo et al., MLSys 2026, arXiv 2507.10392"
    label: ClassVar[Label] = "replicated"

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """See `Strategy`."""
        if not workload.model.is_transformer:
            return "it places transformer layers; this model has none"
        return "" if inventory.accelerators > 1 else "there is one accelerator only"

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:  # noqa: ARG002
        """Return the candidates: all in one group, one group per kind, one per machine.

        That is where cuts of a graph with two levels of links (in a machine, between machines)
        fall; more than `MOST_STAGES` groups are not tried.
        """
        ways = {"one group": 1, "a group per kind": len(inventory.groups),
                "a group per machine": inventory.machines}  # fmt: skip
        numbers = pd.Series(ways)
        kept = numbers[(numbers <= MOST_STAGES) & ~numbers.duplicated()]
        return pd.DataFrame({"grouping": kept.index, "stages": kept.to_numpy()})

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """See `Strategy`."""
        return with_outcomes(
            candidates, [_outcome(speeds, str(one)) for one in candidates["grouping"]]
        )


def _outcome(speeds: Speeds, grouping: str) -> Outcome | None:
    workload = speeds.workload
    members = _ordered(_members(speeds.inventory, grouping), speeds)
    groups = tuple(
        _group(own, speeds, last=place + 1 == len(members)) for place, own in enumerate(members)
    )
    stack = Stack(
        layers=speeds.layers,
        params_per_layer=workload.model.params / speeds.layers,
        boundary_bytes=workload.model.boundary_elements_per_sample
        * BYTES_PER_ELEMENT[workload.precision],
    )
    sizes = tuple(2**k for k in range(MOST_MICRO_BATCH.bit_length()))
    plan = plan_stages(groups, stack, workload.global_batch, sizes)
    return None if plan is None else _told(speeds, plan, members, groups, grouping)


def _members(inventory: Inventory, grouping: str) -> list[Members]:
    every = [(place, group.machines) for place, group in enumerate(inventory.groups)]
    if grouping == "one group":
        return [tuple(every)]
    if grouping == "a group per kind":
        return [(one,) for one in every]
    return [((place, 1),) for place, machines in every for _ in range(machines)]


def _ordered(members: list[Members], speeds: Speeds) -> list[Members]:
    """Order the groups: that with the fastest ring first."""
    return sorted(members, key=lambda own: -_ring_bytes_per_s(own, speeds.inventory))


def _ring_bytes_per_s(own: Members, inventory: Inventory) -> float:
    groups = [inventory.groups[place] for place, _ in own]
    if sum(machines for _, machines in own) == 1:
        return groups[0].link_bytes_per_s * LINK_EFFICIENCY
    return min(group.network_bytes_per_s for group in groups) * NETWORK_EFFICIENCY


def _devices(own: Members, inventory: Inventory) -> list[DeviceGroup]:
    """Return the kind of every device of a group."""
    return [
        inventory.groups[place]
        for place, machines in own
        for _ in range(machines * inventory.groups[place].accelerators_per_machine)
    ]


def _group(own: Members, speeds: Speeds, *, last: bool) -> Group:
    inventory = speeds.inventory
    devices = _devices(own, inventory)
    network = min(group.network_bytes_per_s for group in inventory.groups) * NETWORK_EFFICIENCY
    return Group(
        times=tuple(speeds.times[device.name] for device in devices),
        memory_bytes=(1 - MEMORY_MARGIN) * np.array([device.memory_bytes for device in devices]),
        bytes_per_s=_ring_bytes_per_s(own, inventory),
        next_bytes_per_s=np.inf if last else network,
    )


def _told(
    speeds: Speeds,
    plan: Staged,
    members: list[Members],
    groups: tuple[Group, ...],
    grouping: str,
) -> Outcome:
    shares, busiest = [], 0.0
    start = 0
    for place, own in enumerate(members):
        devices = _devices(own, speeds.inventory)
        layers = int(plan.layers[place])
        state = layers / speeds.layers / groups[place].devices
        seen = sorted({(device.name, int(number)) for device, number in
                       zip(devices, plan.micro_batches[place], strict=True)})  # fmt: skip
        kinds = {device.name: device for device in devices}
        for name, number in seen:
            forward, backward = speeds.times[name].at(np.array(float(plan.micro_batch)))
            busy = float(2 * forward + backward) * layers * number
            busiest = max(busiest, busy)
            shares.append(
                DeviceShare(
                    group=name,
                    accelerator=kinds[name].accelerator,
                    devices=sum(
                        device.name == name and int(own_number) == number
                        for device, own_number in zip(
                            devices, plan.micro_batches[place], strict=True
                        )
                    ),
                    batch=number * plan.micro_batch,
                    micro_batch=plan.micro_batch,
                    micro_batches=number,
                    layers=layers,
                    state_share=min(state, 1.0),
                    busy_share=min(busy / plan.step_s, 1.0),
                    memory_bytes=float(plan.memory_bytes[start]),
                    capacity_bytes=kinds[name].memory_bytes,
                )
            )
        start += len(devices)
    communication = min(plan.communication_s, plan.step_s)
    compute = min(busiest, plan.step_s - communication)
    return Outcome(
        parts=MixParts(
            compute_s=compute,
            exposed_communication_s=communication,
            bubble_s=plan.step_s - communication - compute,
        ),
        log_half_width=speeds.log_half_width(speeds.inventory),
        shares=tuple(shares),
        note=f"{grouping}, full recompute"
        + (f", {plan.interleave} ministages" if plan.interleave > 1 else ""),
    )
