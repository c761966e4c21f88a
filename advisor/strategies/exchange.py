"""What the devices of a mix say to each other, over the slowest link that a ring crosses."""

from __future__ import annotations

from advisor.domain import Workload
from advisor.domain.mixed import Inventory
from advisor.predictor.baseline import OVERLAP
from advisor.predictor.collectives import (
    LINK_EFFICIENCY,
    LINK_LATENCY_S,
    NETWORK_EFFICIENCY,
    NETWORK_LATENCY_S,
    ring_all_reduce_s,
    ring_gather_s,
)
from advisor.predictor.workload_columns import BYTES_PER_ELEMENT


def ring_bytes_per_s(inventory: Inventory) -> float:
    """Return what a ring over all devices carries: the slowest link in its way [bytes/s]."""
    if inventory.machines == 1:
        return min(group.link_bytes_per_s for group in inventory.groups) * LINK_EFFICIENCY
    return min(group.network_bytes_per_s for group in inventory.groups) * NETWORK_EFFICIENCY


def hop_s(inventory: Inventory) -> float:
    """Return the latency of one hop of that ring [s]."""
    return LINK_LATENCY_S if inventory.machines == 1 else NETWORK_LATENCY_S


def gradient_exchange_s(workload: Workload, inventory: Inventory) -> float:
    """Time of the all-reduce of all trained gradients [s]."""
    size = workload.trainable_params * BYTES_PER_ELEMENT[workload.precision]
    return float(ring_all_reduce_s(
        size, inventory.accelerators, ring_bytes_per_s(inventory), hop_s(inventory)
    ))  # fmt: skip


def layer_gather_s(workload: Workload, inventory: Inventory, width: float) -> float:
    """Time to gather or scatter one layer of `width` bytes per parameter over all devices [s]."""
    size = workload.model.params / workload.model.layers * width
    return float(ring_gather_s(
        size, inventory.accelerators, ring_bytes_per_s(inventory), hop_s(inventory)
    ))  # fmt: skip


def exposed_s(communication_s: float, backward_s: float) -> float:
    """Return what of an exchange the backward pass before it does not hide [s].

    >>> round(exposed_s(1.0, 0.5), 3)
    0.575
    """
    return communication_s - OVERLAP * min(communication_s, backward_s)
