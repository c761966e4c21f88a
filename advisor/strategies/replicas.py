"""Synchronous data parallelism: every device holds the model and takes a batch of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.domain import Workload
from advisor.domain.mixed import DeviceGroup, DeviceShare, Inventory, MixParts
from advisor.strategies.exchange import exposed_s, gradient_exchange_s
from advisor.strategies.strategy import Outcome

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray
    from advisor.strategies.speeds import Memory, Speeds

# Running the forward pass again before the backward pass.
FORWARD_AGAIN: Final = 1.0


def recompute_candidates() -> pd.DataFrame:
    """Return the two candidates of a replica: keep activations, or run forward again."""
    return pd.DataFrame({"recompute": [0.0, 1.0]})


def fewer_samples_than_devices(workload: Workload, inventory: Inventory) -> str:
    """Return the reason where not every device gets a sample."""
    if workload.global_batch >= inventory.accelerators:
        return ""
    return (
        f"a batch of {workload.global_batch:,} has not a sample for each of "
        f"{inventory.accelerators:,} accelerators"
    )


def memory_of(speeds: Speeds, group: DeviceGroup, recompute: float) -> Memory:
    """Return the memory of a device that keeps activations or not."""
    return (speeds.recomputed if recompute else speeds.memory)[group.name]


def micro_batches(batch: int, most: int) -> tuple[int, int]:
    """Return size and number of the micro-batches of a local batch, as few as fit.

    >>> micro_batches(13, 5), micro_batches(12, 5), micro_batches(0, 5)
    ((5, 3), (4, 3), (0, 0))
    """
    if batch == 0:
        return 0, 0
    number = math.ceil(batch / most)
    return math.ceil(batch / number), number


def sample_s(speeds: Speeds, group: DeviceGroup, micro_batch: int, recompute: float) -> float:
    """Return the arithmetic of one micro-batch on one device [s]."""
    forward, backward = speeds.pass_s(group, micro_batch)
    return forward * (1 + FORWARD_AGAIN * recompute) + backward


def most_micro_batches(speeds: Speeds, recompute: float) -> np.ndarray:
    """Return the largest micro-batch of every group's devices, 0 where the model does not fit."""
    return np.array([
        memory_of(speeds, group, recompute).most_samples(group.memory_bytes)
        for group in speeds.inventory.groups
    ])  # fmt: skip


def throughputs(speeds: Speeds, most: np.ndarray, recompute: float) -> FloatArray:
    """Return samples per second of one device of every group, at its largest micro-batch."""
    batch = np.minimum(most, speeds.workload.global_batch)
    return np.array([
        size / sample_s(speeds, group, int(size), recompute)
        for group, size in zip(speeds.inventory.groups, batch, strict=True)
    ])  # fmt: skip


def replicated(
    speeds: Speeds, batches: np.ndarray, most: np.ndarray, recompute: float, note: str = ""
) -> Outcome:
    """Return the step in which every device takes its batch, then gradients are exchanged.

    Parameters
    ----------
    batches : array of int
        Samples per step of every device, in the order of the groups.
    most : array of int
        Largest micro-batch by group.
    """
    groups = speeds.inventory.groups
    of_device = np.repeat(np.arange(len(groups)), [group.accelerators for group in groups])
    rows = sorted({(int(g), int(b)) for g, b in zip(of_device, batches, strict=True)})
    timed = []
    for number, batch in rows:
        size, count = micro_batches(batch, int(most[number]))
        # Micro-batches of one device may differ by a sample; their mean is what counts.
        busy = count * sample_s(speeds, groups[number], size, recompute)
        busy *= batch / (size * count) if count else 0.0
        timed.append((busy, size, count))
    slowest = int(np.argmax([busy for busy, _, _ in timed]))
    busy, size, _ = timed[slowest]
    backward = speeds.pass_s(groups[rows[slowest][0]], max(size, 1))[1]
    exposed = exposed_s(gradient_exchange_s(speeds.workload, speeds.inventory), backward)
    step = busy + exposed
    shares = tuple(
        _share(
            speeds,
            groups[number],
            batch,
            own,
            step,
            recompute,
            int(((of_device == number) & (batches == batch)).sum()),
        )
        for (number, batch), own in zip(rows, timed, strict=True)
    )
    return Outcome(
        parts=MixParts(compute_s=busy, exposed_communication_s=exposed, bubble_s=0.0),
        log_half_width=speeds.log_half_width(speeds.inventory),
        shares=shares,
        note=", ".join(filter(None, (note, "full recompute" if recompute else ""))),
    )


def _share(
    speeds: Speeds,
    group: DeviceGroup,
    batch: int,
    timed: tuple[float, int, int],
    step_s: float,
    recompute: float,
    devices: int,
) -> DeviceShare:
    busy, size, count = timed
    return DeviceShare(
        group=group.name,
        accelerator=group.accelerator,
        devices=devices,
        batch=batch,
        micro_batch=size,
        micro_batches=count,
        state_share=1.0,
        busy_share=min(busy / step_s, 1.0),
        memory_bytes=memory_of(speeds, group, recompute).used_bytes(size),
        capacity_bytes=group.memory_bytes,
    )
