"""Cephalo's planner: which batch on which device, and where the states live.

Guo et al., 2025, doi:10.1145/3721145.3730418, with the time and memory model of the authors'
program (github.com/benson-guo/cephalo): fully sharded data parallelism, with what a device
computes decided by its speed, and what it stores by its memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.strategies.layer_times import LayerTimes
from advisor.strategies.splitting import Shares

# Constants of the published planner: accumulating the gradients of a layer, collectives over
# shards of unequal size, and the share of a device's memory that may be planned with; the
# buffers of the collectives are in what is left.
ACCUMULATION_S: Final = 10e-3
UNEVEN_FACTOR: Final = 1.25
USED_SHARE: Final = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Equal devices: how many, their layer times, their memory [bytes]."""

    devices: int
    times: LayerTimes
    memory_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What is trained, and how long its collectives take.

    ``compute_bytes`` is the memory of computing a micro-batch: so much per sample, and so much in
    any case. ``gather_s`` and ``scatter_s`` are all-gather and reduce-scatter of one layer.
    """

    layers: int
    state_bytes: float
    sample_bytes: float
    fixed_bytes: float
    gather_s: float = 0.0
    scatter_s: float = 0.0

    def compute_bytes(self, micro_batch: FloatArray) -> FloatArray:
        """Return the memory of computing a micro-batch, 0 for none [bytes]."""
        return np.where(micro_batch > 0, self.sample_bytes * micro_batch + self.fixed_bytes, 0.0)


@dataclass(frozen=True, slots=True)
class Shared:
    """A plan, one value per device in the order of the kinds.

    ``layer_s`` is the slowest device's time of one layer; ``device_s`` every device's.
    """

    batch: np.ndarray
    micro_batch: np.ndarray
    micro_batches: np.ndarray
    state_share: FloatArray
    device_s: FloatArray
    compute_s: FloatArray
    memory_bytes: FloatArray

    @property
    def layer_s(self) -> float:
        """Time of one layer, forward and backward [s]."""
        return float(self.device_s.max())


@dataclass(frozen=True, slots=True)
class _Choices:
    """All (micro-batch, count) of one device with a product of at most the global batch."""

    micro_batch: np.ndarray
    count: np.ndarray
    time_s: FloatArray
    compute_s: FloatArray


def layer_times_s(
    times: LayerTimes, micro_batch: np.ndarray, count: np.ndarray, gather_s: FloatArray,
    scatter_s: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return time and arithmetic of one layer for `count` micro-batches [s].

    ``max(AG, F) + max(AG + RS, F + B)`` with ``F = n f(b)`` and ``B = (n - 1) a + n k(b)``: the
    backward pass runs the forward pass again, and collectives hide behind arithmetic.

    Examples
    --------
    >>> from advisor.strategies.layer_times import Line
    >>> times = LayerTimes(Line(1e-3, 0.0), Line(2e-3, 0.0), np.empty(0), np.empty(0))
    >>> none = np.zeros(1)
    >>> one, _ = layer_times_s(times, np.array([4]), np.array([2]), none, none)
    >>> round(float(one[0]), 6)
    0.042
    """
    forward, backward = times.at(np.maximum(micro_batch, 1))
    busy = np.where(micro_batch > 0, count, 0)
    first = busy * forward
    second = first + np.maximum(busy - 1, 0) * ACCUMULATION_S + busy * backward
    return np.maximum(gather_s, first) + np.maximum(gather_s + scatter_s, second), first + second


def plan_shares(kinds: tuple[Kind, ...], network: Network, global_batch: int) -> Shared | None:
    """Return the plan with the fastest step, None where none fits.

    Among equally fast plans that with the smallest sum of micro-batches, which needs the least
    memory. Exact: the step is one of the times of the devices' choices, and whether a time can be
    met within the memory grows with it, so it is found by bisection; each test is a dynamic
    programme over the devices.
    """
    number = sum(kind.devices for kind in kinds)
    choices = [_choices(kind, network, global_batch, number) for kind in kinds]
    candidates = np.unique(np.concatenate([one.time_s for one in choices]))
    most = _most_samples(kinds, network)
    low, high = 0, len(candidates) - 1
    found = _shares_within(kinds, choices, float(candidates[high]), global_batch)
    if found.cost[global_batch] > most:
        return None
    while low < high:
        middle = (low + high) // 2
        tried = _shares_within(kinds, choices, float(candidates[middle]), global_batch)
        if tried.cost[global_batch] <= most:
            high, found = middle, tried
        else:
            low = middle + 1
    return _shared(kinds, network, choices, found.of(global_batch), float(candidates[high]))


def _choices(kind: Kind, network: Network, global_batch: int, devices: int) -> _Choices:
    micro, count = (column.ravel() for column in np.meshgrid(
        np.arange(1, global_batch + 1), np.arange(1, global_batch + 1)))  # fmt: skip
    legal = micro * count <= global_batch
    micro, count = np.append(0, micro[legal]), np.append(1, count[legal])
    used = USED_SHARE * kind.memory_bytes
    need = network.compute_bytes(micro.astype(float))
    fits = need <= used
    micro, count, need = micro[fits], count[fits], need[fits]
    uneven = need + network.state_bytes / devices > used
    factor = np.where(uneven, UNEVEN_FACTOR, 1.0)
    time_s, compute_s = layer_times_s(
        kind.times, micro, count, network.gather_s * factor, network.scatter_s * factor
    )
    return _Choices(micro, count, time_s, compute_s)


def _most_samples(kinds: tuple[Kind, ...], network: Network) -> float:
    """Return the largest sum of micro-batches whose memory and the states fit altogether."""
    room = sum(USED_SHARE * kind.memory_bytes * kind.devices for kind in kinds)
    number = sum(kind.devices for kind in kinds)
    room -= network.state_bytes + number * network.fixed_bytes
    return room / network.sample_bytes if network.sample_bytes else np.inf


def _shares_within(
    kinds: tuple[Kind, ...], choices: list[_Choices], limit_s: float, global_batch: int
) -> Shares:
    """Return the least sums of micro-batches with no device above the time."""
    whole: Shares | None = None
    for kind, one in zip(kinds, choices, strict=True):
        cost = np.full(global_batch + 1, np.inf)
        within = one.time_s <= limit_s
        total = (one.micro_batch * one.count)[within]
        np.minimum.at(cost, total, one.micro_batch[within].astype(float))
        part = Shares.of_equal(cost, kind.devices)
        whole = part if whole is None else whole.joined(part)
    if whole is None:
        return Shares(np.full(global_batch + 1, np.inf))
    return whole


def _shared(
    kinds: tuple[Kind, ...],
    network: Network,
    choices: list[_Choices],
    batches: list[int],
    limit_s: float,
) -> Shared:
    rows = []
    kind_of = np.repeat(np.arange(len(kinds)), [kind.devices for kind in kinds])
    for batch, number in zip(batches, kind_of, strict=True):
        one = choices[number]
        legal = (one.micro_batch * one.count == batch) & (one.time_s <= limit_s)
        legal = np.flatnonzero(legal)
        best = legal[np.argmin(one.micro_batch[legal])]
        rows.append((one.micro_batch[best], one.count[best], one.time_s[best], one.compute_s[best]))
    micro, count, time_s, compute_s = (np.array(column) for column in zip(*rows, strict=True))
    memory = np.array([kinds[number].memory_bytes for number in kind_of])
    need = network.compute_bytes(micro.astype(float))
    shares = state_shares(USED_SHARE * memory - need, network.state_bytes)
    return Shared(
        batch=np.array(batches),
        micro_batch=micro,
        micro_batches=np.where(micro > 0, count, 0),
        state_share=shares,
        device_s=time_s,
        compute_s=compute_s,
        memory_bytes=need + shares * network.state_bytes,
    )


def state_shares(room_bytes: FloatArray, state_bytes: float) -> FloatArray:
    """Return which share of the states each device stores: equal, but none more than its room.

    What does not fit on one device is levelled over the others.

    Examples
    --------
    >>> state_shares(np.array([9.0, 9.0, 9.0]), 18.0).round(3).tolist()
    [0.333, 0.333, 0.333]
    >>> state_shares(np.array([2.0, 9.0, 9.0]), 18.0).round(3).tolist()
    [0.111, 0.444, 0.444]
    """
    order = np.argsort(room_bytes, kind="stable")
    held = np.zeros(len(room_bytes))
    left = state_bytes
    for place, device in enumerate(order):
        level = left / (len(order) - place)
        held[device] = min(max(room_bytes[device], 0.0), level)
        left -= held[device]
    return np.asarray(held / state_bytes)
