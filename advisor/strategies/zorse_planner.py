"""Zorse's planner: data parallelism in groups of near devices, a pipeline between the groups.

Guo et al., MLSys 2026, arXiv 2507.10392, with the time and memory model of the authors' program
(github.com/benson-guo/zorse): micro-batches are shared out unequally within a group, layers
unequally between groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.core.units import GIB
from advisor.predictor.arrays import FloatArray
from advisor.strategies.layer_times import LayerTimes
from advisor.strategies.splitting import by_weight

# Constants of the published planner: collectives take so much longer than bytes over bandwidth;
# parameters travel in half, gradients in full precision; the optimizer keeps 12 bytes.
COLLECTIVE_FACTOR: Final = 1.15
GATHER_BYTES: Final = 2.0
SCATTER_BYTES: Final = 4.0
OPTIMIZER_BYTES: Final = 12.0
RESERVED_BYTES: Final = 2 * GIB
KEPT_BOUNDARIES: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Devices that share the layers of a stage.

    ``times`` and ``memory_bytes`` are per device; ``bytes_per_s`` is the slowest link within the
    group, ``next_bytes_per_s`` that to the next group.
    """

    times: tuple[LayerTimes, ...]
    memory_bytes: FloatArray
    bytes_per_s: float
    next_bytes_per_s: float = np.inf

    @property
    def devices(self) -> int:
        """Devices in the group."""
        return len(self.times)

    def collective_s(self, params: float, width: float) -> float:
        """Time to gather or scatter one layer over the group's ring [s]."""
        share = params * width / self.devices
        return COLLECTIVE_FACTOR * (self.devices - 1) * share / self.bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The layers to be placed."""

    layers: int
    params_per_layer: float
    boundary_bytes: float  # activation of one sample between two layers


@dataclass(frozen=True, slots=True)
class Staged:
    """A plan: who runs how many micro-batches of what size, on how many layers.

    ``micro_batches`` has one array per group, ``layers`` and ``chunks`` one number per group;
    ``startup_s + core_s + end_s`` is the step.
    """

    micro_batch: int
    micro_batches: tuple[np.ndarray, ...]
    layers: np.ndarray
    interleave: int
    startup_s: float
    core_s: float
    end_s: float
    communication_s: float
    memory_bytes: FloatArray

    @property
    def step_s(self) -> float:
        """The step, without the optimizer [s]."""
        return self.startup_s + self.core_s + self.end_s


def plan_stages(
    groups: tuple[Group, ...], stack: Stack, global_batch: int, micro_batches: tuple[int, ...]
) -> Staged | None:
    """Return the fastest plan over micro-batch sizes and interleavings, None where none fits.

    Groups are a pipeline in the order given. A group's layers are cut into ministages where there
    are several groups, or where a group alone cannot hold them at once.
    """
    best: Staged | None = None
    for size in micro_batches:
        if global_batch % size or len(groups) > stack.layers:
            continue
        count = global_batch // size
        if count < max(group.devices for group in groups):
            continue
        for interleave in range(1, max(stack.layers // 2, 1) + 1):
            plan = staged(groups, stack, size, count, interleave)
            if not _fits(plan, groups):
                continue
            if best is None or plan.step_s < best.step_s:
                best = plan
            if len(groups) == 1 or interleave > len(groups):
                break  # more ministages save memory and no time
    return best


def staged(
    groups: tuple[Group, ...], stack: Stack, micro_batch: int, count: int, interleave: int
) -> Staged:
    """Return the plan of one micro-batch size and interleaving, whether it fits or not."""
    forward, both = [], []
    for group in groups:
        passes = [times.at(np.array(float(micro_batch))) for times in group.times]
        forward.append(np.array([float(one) for one, _ in passes]))
        both.append(np.array([float(one + other) for one, other in passes]))
    share = tuple(by_weight(count, 1 / busy) for busy in both)
    slowest = np.array([(busy * own).max() for busy, own in zip(both, share, strict=True)])
    layers = by_weight(stack.layers, 1 / slowest)
    if not layers.all():  # a group without a layer would be no stage
        layers = by_weight(stack.layers - len(groups), 1 / slowest) + 1
    chunks = chunk_layers(layers, min(interleave, int(layers.min())))
    timing = _timing(groups, stack, micro_batch, forward, both, share, chunks)
    memory = np.concatenate([
        _memory(group, stack, micro_batch, own) for group, own in zip(groups, chunks, strict=True)
    ])  # fmt: skip
    return Staged(micro_batch, share, layers, len(chunks[0]), *timing, memory)


def chunk_layers(layers: np.ndarray, interleave: int) -> list[np.ndarray]:
    """Cut every group's layers into `interleave` ministages; the first ones take what is left.

    Examples
    --------
    >>> [one.tolist() for one in chunk_layers(np.array([7, 4]), 2)]
    [[4, 3], [2, 2]]
    """
    cut = []
    for own in layers:
        whole, rest = divmod(int(own), interleave)
        cut.append(np.array([whole + (place < rest) for place in range(interleave)]))
    return cut


def _timing(
    groups: tuple[Group, ...],
    stack: Stack,
    micro_batch: int,
    forward: list[FloatArray],
    both: list[FloatArray],
    share: tuple[np.ndarray, ...],
    chunks: list[np.ndarray],
) -> tuple[float, float, float, float]:
    """Return startup, core, end and the part of them that waits for communication [s].

    The first micro-batch passes the first ministage of every group; then the slowest group sets
    the pace; the last micro-batch passes back. Backward includes running forward again.
    """
    sizes = micro_batch * stack.boundary_bytes
    startup = end = bare_ends = 0.0
    core, bare_core = [], []
    for place, group in enumerate(groups):
        gather = group.collective_s(stack.params_per_layer, GATHER_BYTES)
        scatter = group.collective_s(stack.params_per_layer, SCATTER_BYTES)
        last = place + 1 == len(groups)
        send = 0.0 if last else sizes / group.next_bytes_per_s
        one, two = float(forward[place].max()), float(both[place].max())
        first = int(chunks[place][0])
        startup += (max(one, gather) if place == 0 else one) * first + send
        end += (max(two, scatter) if place == 0 else two) * first + send
        bare_ends += (one + two) * first
        paced, bare = 0.0, 0.0
        for stage, size in enumerate(chunks[place]):
            begun = 1 if place == 0 and stage == 0 else 0  # its first is part of the startup
            own = share[place]
            paced += max((np.maximum(forward[place] * size, send) * (own - begun)).max(),
                         gather * size)  # fmt: skip
            paced += max((np.maximum(both[place] * size, send) * own).max(),
                         (gather + scatter) * size)  # fmt: skip
            bare += (forward[place] * size * (own - begun)).max() + (both[place] * size * own).max()
        core.append(paced)
        bare_core.append(bare)
    busiest = int(np.argmax(core))
    waits = core[busiest] - bare_core[busiest] + startup + end - bare_ends
    return startup, float(core[busiest]), end, float(max(waits, 0.0))


def _memory(group: Group, stack: Stack, micro_batch: int, chunks: np.ndarray) -> FloatArray:
    """Return the memory of every device of a group [bytes].

    Two adjacent ministages are gathered, everything else is sharded over the group.
    """
    params = stack.params_per_layer
    own = float(chunks.sum())
    gathered = float(max(chunks[i : i + 2].sum() for i in range(len(chunks))))
    sharded = GATHER_BYTES * params * (own - gathered) + OPTIMIZER_BYTES * params * own
    used = (
        GATHER_BYTES * params * gathered
        + sharded / group.devices
        + KEPT_BOUNDARIES * micro_batch * stack.boundary_bytes
        + RESERVED_BYTES
    )
    return np.full(group.devices, used)


def _fits(plan: Staged, groups: tuple[Group, ...]) -> bool:
    capacity = np.concatenate([group.memory_bytes for group in groups])
    return bool((plan.memory_bytes <= capacity).all())
