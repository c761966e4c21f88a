"""What is planned: pools of accelerators, the layers of the job, and the links between pools."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Mapping

# Gradients travel in buckets of this size.
BUCKET_BYTES: Final = 5e8
# Devices of one machine that send together; links are known by their number.
PORTS: Final = (1, 2, 4)

Port = tuple[str, str, int]  # (zone, accelerator, devices that send together)


def port_of(tensor: int) -> int:
    """Return how many devices of a tensor-parallel group send together.

    >>> port_of(1), port_of(2), port_of(8)
    (1, 2, 4)
    """
    return max(number for number in PORTS if number <= tensor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Equal accelerators of one zone; ``usd_per_h`` is of one of them."""

    zone: str
    gpu: str
    devices: int
    devices_per_node: int
    memory_bytes: float
    usd_per_h: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCosts:
    """The layers of the job.

    Attributes
    ----------
    busy_s, update_s : mapping of (accelerator, tensor degree, micro-batch) to array, shape (n,)
        Forward and backward pass of every layer, and its optimizer step [s].
    output_bytes : array, shape (n,)
        What a layer hands on, per sample.
    weight_bytes : array, shape (n,)
        Gradients of a layer on one device, undivided.
    state_bytes, activation_bytes : mapping of (accelerator, tensor degree) to array, shape (n,)
        What a device keeps of a layer: in any case, and per sample in flight.
    fixed_bytes : mapping of (accelerator, tensor degree) to float
        What a device needs whatever its layers.
    """

    busy_s: Mapping[tuple[str, int, int], FloatArray]
    update_s: Mapping[tuple[str, int, int], FloatArray]
    output_bytes: FloatArray
    weight_bytes: FloatArray
    state_bytes: Mapping[tuple[str, int], FloatArray]
    activation_bytes: Mapping[tuple[str, int], FloatArray]
    fixed_bytes: Mapping[tuple[str, int], float]

    @property
    def layers(self) -> int:
        """Number of layers."""
        return len(self.output_bytes)

    @property
    def micro_batches(self) -> list[int]:
        """Return the micro-batches whose times are known."""
        return sorted({size for _, _, size in self.busy_s})

    def degrees(self, pool: Pool, micro_batch: int) -> list[int]:
        """Return the tensor degrees that stay inside a node of the pool and have known times."""
        return sorted(
            tensor
            for gpu, tensor, size in self.busy_s
            if gpu == pool.gpu
            and size == micro_batch
            and pool.devices_per_node % tensor == 0
            and (gpu, tensor) in self.state_bytes
        )


@dataclass(frozen=True, slots=True)
class Links:
    """What flows between two ports: ``c2 x² + c1 x + c0`` GB/s, x the log2 of the size in MB."""

    fits: Mapping[tuple[Port, Port], tuple[float, float, float]]

    def transfer_s(
        self, size_bytes: FloatArray | float, sender: Port, receiver: Port
    ) -> FloatArray:
        """Return how long a message takes [s]."""
        c2, c1, c0 = self.fits[sender, receiver]
        x = np.log2(np.asarray(size_bytes) / 1e6)
        rate = (c2 * x + c1) * x + c0
        # Below its measured sizes a fit can fall under zero: nothing flows there.
        with np.errstate(divide="ignore"):
            return np.asarray(size_bytes) / 1e9 / np.maximum(rate, 0.0)

    def message_s(self, size_bytes: float, sender: Port, receiver: Port) -> float:
        """Return how long one message takes [s]; `transfer_s` of a single size, and faster."""
        c2, c1, c0 = self.fits[sender, receiver]
        x = math.log2(size_bytes / 1e6)
        rate = (c2 * x + c1) * x + c0
        return size_bytes / 1e9 / rate if rate > 0 else math.inf

    def ring_s(self, size_bytes: float, members: int, sender: Port, receiver: Port) -> float:
        """Return how long the all-reduce of a ring with this slowest pair takes [s]."""
        if members < 2:
            return 0.0
        whole, rest = divmod(size_bytes, BUCKET_BYTES)
        hops = 2 * (members - 1)
        total = 0.0
        if whole:
            total += whole * hops * self.message_s(BUCKET_BYTES / members, sender, receiver)
        if rest:
            total += hops * self.message_s(rest / members, sender, receiver)
        return total

    def rings_s(
        self, size_bytes: float, members: np.ndarray, sender: Port, receiver: Port
    ) -> FloatArray:
        """Return `ring_s` of many numbers of members [s], shape of `members`."""
        whole, rest = divmod(size_bytes, BUCKET_BYTES)
        one = self.transfer_s(BUCKET_BYTES / members, sender, receiver) * whole
        if rest:
            one = one + self.transfer_s(rest / members, sender, receiver)
        return np.asarray(2 * (members - 1) * one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is best: the shortest iteration or the cheapest, within limits."""

    cheapest: bool = False
    most_s: float = np.inf
    most_usd: float = np.inf

    def key(self, iteration_s: float, usd: float) -> tuple[float, float]:
        """Return what sorts plans, best first; infinite where a limit is broken."""
        if iteration_s > self.most_s or usd > self.most_usd:
            return np.inf, np.inf
        return (usd, iteration_s) if self.cheapest else (iteration_s, usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A job of ``global_batch`` samples a step on pools of accelerators.

    ``egress_usd_per_gb`` is by (zone, zone); a pair that is not named is free.
    """

    pools: tuple[Pool, ...]
    costs: LayerCosts
    links: Links
    global_batch: int
    goal: Goal = field(default_factory=Goal)
    egress_usd_per_gb: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.pools or min(pool.devices for pool in self.pools) < 1:
            raise InvalidInputError(
                "a pool without accelerators.", where="pools", todo="Leave it out."
            )
        known = {gpu for gpu, _, _ in self.costs.busy_s}
        unknown = sorted({pool.gpu for pool in self.pools} - known)
        if unknown:
            raise InvalidInputError(
                f"no layer times of {', '.join(unknown)}.",
                where="pools",
                todo="Give times of " + " or ".join(sorted(known)) + ".",
            )

    def port(self, pool: int, tensor: int) -> Port:
        """Return the port of a tensor-parallel group in a pool."""
        return self.pools[pool].zone, self.pools[pool].gpu, port_of(tensor)

    def egress_usd(self, size_bytes: float, sender: int, receiver: int) -> float:
        """Return what sending from pool to pool costs [USD]."""
        zones = self.pools[sender].zone, self.pools[receiver].zone
        return self.egress_usd_per_gb.get(zones, 0.0) * size_bytes / 1e9
