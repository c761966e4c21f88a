"""What a stage can run on: kinds of accelerator with a tensor degree, as tables by layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.strategies.sailor.space import port_of

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray
    from advisor.strategies.sailor.space import LayerCosts, Pool, Space


@dataclass(frozen=True, slots=True)
class Kind:
    """Pools that are taken together, by position in the space, in the order they are filled."""

    pools: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Ways to run a stage with one micro-batch size; ``n`` options, ``L`` layers.

    Attributes
    ----------
    kind, tensor, shards : array of int, shape (n,)
        Position of the kind, tensor degree, and what divides the gradients.
    busy_s : array, shape (n, L + 1, L + 1)
        Time of layers x to e - 1 at ``[x, e]``; infinite where e <= x.
    onward_s, back_s : array, shape (n, n, L + 1)
        Sending to a neighbour of the other option what the layer before e, or layer x, hands on.
    depth : array of int, shape (n, L + 1, L + 1)
        Stages, this one and those behind it, with which the layers fit into memory at most.
    weight_bytes : array, shape (L + 1,)
        Gradients of all layers before.
    update_s : array, shape (n, L)
    """

    micro_batch: int
    kind: np.ndarray
    tensor: np.ndarray
    shards: np.ndarray
    busy_s: FloatArray
    onward_s: FloatArray
    back_s: FloatArray
    depth: np.ndarray
    weight_bytes: FloatArray
    update_s: FloatArray

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def layers(self) -> int:
        """Number of layers."""
        return int(self.busy_s.shape[1]) - 1


def options_of(space: Space, kinds: tuple[Kind, ...], micro_batch: int) -> Options | None:
    """Return the tables of one micro-batch size, None where no time of it is known.

    A kind is as slow and as small as its slowest and smallest accelerator. Zones of a kind are
    told apart only when a plan is scored: links are those inside its first.
    """
    pairs = [
        (number, tensor)
        for number, kind in enumerate(kinds)
        for tensor in _degrees(space, kind, micro_batch)
    ]
    if not pairs:
        return None
    members = [_unlike(space, kinds[number]) for number, _ in pairs]
    busy, depth, update = [], [], []
    for pools, (_, tensor) in zip(members, pairs, strict=True):
        times = [space.costs.busy_s[pool.gpu, tensor, micro_batch] for pool in pools]
        ends = [space.costs.update_s[pool.gpu, tensor, micro_batch] for pool in pools]
        busy.append(np.max([_ranges(one) for one in times], axis=0))
        depth.append(np.min([_depth(space.costs, pool, tensor, micro_batch) for pool in pools], 0))
        update.append(np.max(ends, axis=0))
    costs = space.costs
    sizes = costs.output_bytes * micro_batch
    ports = [space.port(kinds[number].pools[0], tensor) for number, tensor in pairs]
    sent = np.stack([[space.links.transfer_s(sizes, a, b) for b in ports] for a in ports])
    none = np.full((*sent.shape[:2], 1), np.inf)
    return Options(
        micro_batch=micro_batch,
        kind=np.array([number for number, _ in pairs]),
        tensor=np.array([tensor for _, tensor in pairs]),
        shards=np.array([port_of(tensor) for _, tensor in pairs]),
        busy_s=np.stack(busy),
        onward_s=np.concatenate([none, sent], axis=2),
        back_s=np.concatenate([sent, none], axis=2),
        depth=np.stack(depth),
        weight_bytes=np.concatenate([[0.0], np.cumsum(costs.weight_bytes)]),
        update_s=np.stack(update),
    )


def _unlike(space: Space, kind: Kind) -> list[Pool]:
    """Return a pool of every accelerator of a kind, in order."""
    return list(
        {space.pools[pool].gpu: space.pools[pool] for pool in reversed(kind.pools)}.values()
    )


def _degrees(space: Space, kind: Kind, micro_batch: int) -> list[int]:
    """Return the tensor degrees that every accelerator of a kind can have."""
    known = [set(space.costs.degrees(pool, micro_batch)) for pool in _unlike(space, kind)]
    return sorted(set.intersection(*known))


def _depth(costs: LayerCosts, pool: Pool, tensor: int, micro_batch: int) -> np.ndarray:
    """Return with how many stages layers x to e - 1 fit into memory, at ``[x, e]``."""
    key = pool.gpu, tensor
    state, kept = _ranges(costs.state_bytes[key]), _ranges(costs.activation_bytes[key])
    room = pool.memory_bytes - costs.fixed_bytes[key] - state
    with np.errstate(invalid="ignore"):
        depth = np.where(np.isfinite(room), room / np.maximum(kept * micro_batch, 1.0), 0.0)
    return np.asarray(np.floor(np.clip(depth, 0, costs.layers)).astype(int))


def _ranges(column: FloatArray) -> FloatArray:
    """Return the sums of layers x to e - 1 at ``[x, e]``, infinite where there are none."""
    before = np.concatenate([[0.0], np.cumsum(column)])
    sums = before[None, :] - before[:, None]
    empty = np.tril(np.ones(sums.shape, dtype=bool))
    return np.where(empty, np.inf, sums)
