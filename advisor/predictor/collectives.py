"""Communication: collectives over the links that a group really crosses.

All functions are vectorised over NumPy arrays. Sizes are bytes, bandwidths bytes per second and
direction, times seconds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.predictor.arrays import Floats

# Share of a link's nominal bandwidth that large collectives reach: NCCL all-reduce bus bandwidth
# of 235 of 300 GB/s on NVLink 3 (nccl-tests on DGX A100) and about 0.85 on RDMA NICs.
LINK_EFFICIENCY: Final = 0.78
NETWORK_EFFICIENCY: Final = 0.80
# One hop of a ring: kernel launch and protocol inside a node, plus the switch between nodes.
LINK_LATENCY_S: Final = 5e-6
NETWORK_LATENCY_S: Final = 15e-6


def ring_all_reduce_s(size_bytes: Floats, ranks: Floats, bytes_per_s: Floats,
                      latency_s: Floats = 0.0) -> Floats:  # fmt: skip
    """Time of a ring all-reduce, ``2 (n-1)/n · S/B + 2 (n-1) · L``.

    Source: Patarasuk and Yuan, 2009, doi:10.1016/j.jpdc.2008.09.002, equation 2.

    Parameters
    ----------
    size_bytes : array
        Size of the buffer on each rank [bytes].
    ranks : array
        Ranks in the ring; 1 costs nothing.
    bytes_per_s : array
        Bandwidth of the slowest link of the ring, one direction [bytes/s].
    latency_s : array
        Latency of one hop [s].

    Examples
    --------
    >>> float(ring_all_reduce_s(1e9, 8, 1e9))
    1.75
    """
    return 2 * ring_gather_s(size_bytes, ranks, bytes_per_s, latency_s)


def ring_gather_s(size_bytes: Floats, ranks: Floats, bytes_per_s: Floats,
                  latency_s: Floats = 0.0) -> Floats:  # fmt: skip
    """Time of a ring all-gather or reduce-scatter, ``(n-1)/n · S/B + (n-1) · L``.

    `size_bytes` is the gathered (full) buffer. Source and parameters as `ring_all_reduce_s`.

    Examples
    --------
    >>> float(ring_gather_s(1e9, 4, 1e9))
    0.75
    """
    n = np.maximum(ranks, 1.0)
    return (n - 1) / n * size_bytes / bytes_per_s + (n - 1) * latency_s


def hierarchical_gather_s(
    size_bytes: Floats,
    ranks_in_node: Floats,
    nodes: Floats,
    link_bytes_per_s: Floats,
    network_bytes_per_s: Floats,
    groups_per_node: Floats,
) -> Floats:
    """Time of an all-gather or reduce-scatter over `nodes` nodes of `ranks_in_node` ranks.

    Inside the node the ring runs on the device links; between nodes each of the ranks moves its
    own share, and the groups that sit on one node (tensor-parallel peers) share its network.
    The two stages are pipelined by NCCL, so the slower one counts, with the latency of both.

    Parameters
    ----------
    size_bytes : array
        Full buffer of one group [bytes].
    ranks_in_node, nodes : array
        Shape of one group.
    link_bytes_per_s, network_bytes_per_s : array
        Per device inside the node, and per node between nodes [bytes/s].
    groups_per_node : array
        Groups that use the node's network at the same time.

    Examples
    --------
    Two nodes of one rank each are a plain ring over the network:

    >>> round(float(hierarchical_gather_s(1e9, 1, 2, 1e12, 1e9, 1)), 3)
    0.625
    """
    inside = ring_gather_s(size_bytes, ranks_in_node, link_bytes_per_s * LINK_EFFICIENCY)
    n = np.maximum(nodes, 1.0)
    between = (
        (n - 1) / n * size_bytes * groups_per_node / (network_bytes_per_s * NETWORK_EFFICIENCY)
    )
    hops = np.log2(np.maximum(ranks_in_node, 1.0)) * LINK_LATENCY_S + np.log2(n) * NETWORK_LATENCY_S
    return np.maximum(inside, between) + hops


def point_to_point_s(size_bytes: Floats, bytes_per_s: Floats, latency_s: Floats) -> Floats:
    """Time to send one buffer to a neighbour, ``S/B + L``."""
    return size_bytes / bytes_per_s + latency_s


def smooth_min(a: Floats, b: Floats, power: float = 4.0) -> Floats:
    """Smooth minimum ``(a^-p + b^-p)^(-1/p)``: linear growth that saturates at a cap.

    Power 4 describes parameter-server clusters (measured on CM-DARE, arXiv 2004.03072: workers
    1-4 predict 5-8 within 7 %).

    Examples
    --------
    >>> round(float(smooth_min(1.0, 1e9)), 6)
    1.0
    """
    scale = np.minimum(a, b)
    return scale * ((a / scale) ** -power + (b / scale) ** -power) ** (-1 / power)
