"""Step time of pipelines whose stages differ: layers, accelerators, links and replicas.

A plan is a set of chains. A chain is one replica of every stage, through which its micro-batches
flow; the step of the plan is that of its slowest chain, then the gradients are exchanged. Arrays
have one row per chain and one column per stage; a chain with fewer stages has zeros after its
last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.collectives import ring_all_reduce_s

# A transfer between two devices completes at once for its sender where it fits into the buffers
# of the transport: NCCL_BUFFSIZE, 4 MiB by default (NCCL 2 user guide, environment variables).
TRANSPORT_BUFFER_BYTES = 4 * 2.0**20


@dataclass(frozen=True, slots=True)
class Chains:
    """Chains of stages, one row each.

    Attributes
    ----------
    compute_s : array, shape (chains, stages)
        Forward and backward pass of one micro-batch [s].
    transfer_s : array, shape (chains, stages)
        One activation from the stage to the next one; a gradient back takes as long [s]. 0 for
        the last stage.
    buffered : array of bool, shape (chains, stages)
        Whether that message fits into the transport's buffers, so that its sender goes on.
    micro_batches : array, shape (chains,)
        That pass through the chain in one step.
    """

    compute_s: FloatArray
    transfer_s: FloatArray
    buffered: np.ndarray
    micro_batches: FloatArray


@dataclass(frozen=True, slots=True)
class ChainParts:
    """What the step of a chain is made of [s], one row each: their sum is the step."""

    compute_s: FloatArray
    bubble_s: FloatArray
    transfer_s: FloatArray

    @property
    def total_s(self) -> FloatArray:
        """The sum of the parts."""
        return self.compute_s + self.bubble_s + self.transfer_s

    def take(self, rows: np.ndarray) -> ChainParts:
        """Return the given rows."""
        return ChainParts(self.compute_s[rows], self.bubble_s[rows], self.transfer_s[rows])


def exposed_transfer_s(chains: Chains) -> FloatArray:
    """Return how long each stage waits for its links per micro-batch, shape (chains, stages) [s].

    In a 1F1B schedule a stage gives the gradient of one micro-batch back before the activation of
    the next one is sent to it, so both are in its way: twice the transfer of the link upstream.
    The stage before it computes meanwhile, unless the messages are larger than the buffers.

    Source: the order of instructions of one-forward-one-backward schedules (Narayanan et al.,
    2021, arXiv 2104.04473, section 2.2.1).
    """
    round_trip = 2 * chains.transfer_s
    upstream = np.zeros_like(round_trip)
    upstream[:, 1:] = round_trip[:, :-1]
    return upstream + np.where(chains.buffered, 0.0, round_trip)


def chain_parts(chains: Chains) -> ChainParts:
    """Return the parts of every chain's step.

    ``(m - 1) · max_i (c_i + x_i) + sum_i (c_i + 2 t_i)``: the first micro-batch passes all stages
    forth and back, each further one takes as long as the busiest stage with its exposed transfers.
    Uniform stages without transfers give the bubble of ``pipeline.bubble_ratio``.
    """
    exposed = exposed_transfer_s(chains)
    busiest = np.argmax(chains.compute_s + exposed, axis=1)
    row = np.arange(len(busiest))
    busy = chains.compute_s[row, busiest]
    further = chains.micro_batches - 1
    return ChainParts(
        compute_s=chains.micro_batches * busy,
        bubble_s=chains.compute_s.sum(axis=1) - busy,
        transfer_s=further * exposed[row, busiest] + 2 * chains.transfer_s.sum(axis=1),
    )


def slowest_chains(parts: ChainParts, plan: np.ndarray) -> np.ndarray:
    """Return the row of the slowest chain of every plan.

    Parameters
    ----------
    plan : array of int, shape (chains,)
        The plan of each chain, counted from 0; every plan has a chain.

    Examples
    --------
    >>> parts = ChainParts(np.array([1.0, 3.0, 2.0]), np.zeros(3), np.zeros(3))
    >>> slowest_chains(parts, np.array([0, 0, 1])).tolist()
    [1, 2]
    """
    order = np.lexsort((parts.total_s, plan))
    last = np.flatnonzero(np.diff(plan[order], append=-1))
    return np.asarray(order[last])


def exchange_s(layer_bytes: FloatArray, held: np.ndarray, bytes_per_s: FloatArray) -> float:
    """Time in which all replicas of all layers have the sum of their gradients [s].

    Pipelines may cut the layers differently: every set of replicas that holds the same layers
    makes a ring over its slowest member; a replica that is in several rings runs one after
    another, and the rings of different replicas run at once.

    Parameters
    ----------
    layer_bytes : array, shape (layers,)
        Gradients of each layer [bytes].
    held : array of bool, shape (replicas, layers)
        Which replica holds which layer.
    bytes_per_s : array, shape (replicas,)
        Network of each replica, one direction [bytes/s].

    Examples
    --------
    Two replicas of one layer; a third replica holds the other layer alone:

    >>> held = np.array([[True, False], [True, False], [False, True]])
    >>> exchange_s(np.array([1e9, 5e9]), held, np.array([1e9, 2e9, 1e9]))
    1.0
    """
    rings, ring_of_layer = np.unique(held, axis=1, return_inverse=True)
    ring = ring_of_layer.reshape(-1)
    size = np.bincount(ring, layer_bytes, minlength=rings.shape[1]).astype(float)
    slowest = np.where(rings, bytes_per_s[:, None], np.inf).min(axis=0)
    ranks = rings.sum(axis=0).astype(float)
    ring_s = ring_all_reduce_s(size, ranks, slowest)
    return float(np.max(rings @ ring_s, initial=0.0))
