"""Pipelines over long distances: round trips, windows, and links slower than the stages.

All functions are vectorised over NumPy arrays. Sizes are bytes, bandwidths bytes per second and
direction, times seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats

# What one connection of a collective library over TCP has under way: 128 MB in 0.512 s over a
# round trip of 10 ms and in 0.972 s over 20 ms (Gloo between two p3.2xlarge, DS3Lab, 2022).
WINDOW_BYTES: Final = 2.6e6
SHORTEST_S: Final = 1e-12


@dataclass(frozen=True, slots=True)
class FarPipeline:
    """Parts of the step of a GPipe pipeline over slow links [s], one row each."""

    compute_s: FloatArray
    transfer_s: FloatArray

    @property
    def total_s(self) -> FloatArray:
        """The sum of the parts."""
        return self.compute_s + self.transfer_s


def window_limited_bytes_per_s(
    bytes_per_s: Floats, round_trip_s: Floats, window_bytes: Floats = WINDOW_BYTES
) -> FloatArray:
    """Bandwidth of one connection, ``min(B, W / RTT)``.

    Source: RFC 7323, section 1.1: the window must hold the bandwidth-delay product.

    Parameters
    ----------
    bytes_per_s : array
        Of the link [bytes/s].
    round_trip_s : array
        There and back [s].
    window_bytes : array
        What may be under way [bytes].

    Examples
    --------
    The RFC's window of 64 KiB over 100 ms:

    >>> float(window_limited_bytes_per_s(1e9, 0.1, 65536))
    655360.0
    """
    window_rate = np.asarray(window_bytes) / np.maximum(round_trip_s, SHORTEST_S)
    return np.asarray(np.minimum(bytes_per_s, window_rate))


def far_pipeline(
    forward_s: Floats,
    backward_s: Floats,
    stages: Floats,
    micro_batches: Floats,
    slowest_transfer_s: Floats,
    path_s: Floats,
) -> FarPipeline:
    """Return the parts of a GPipe step: all forward passes, then all backward passes.

    Each phase takes ``(m - 1) · max(c, t) + p · c + path``: transfers run beside the computation
    of other micro-batches, and the slower of both sets the pace; the first micro-batch passes all
    stages and all links one after another. Without slow links it is ``(m + p - 1) · (f + b)``.

    Source: Huang et al., 2019, arXiv 1811.06965, section 2.3 (schedule); Yuan et al., 2022,
    arXiv 2206.01288, section 3 (communication between stages: the slowest link of a group, and
    the sum over the path).

    Parameters
    ----------
    forward_s, backward_s : array
        Of one micro-batch on one stage, recomputation included [s].
    stages, micro_batches : array
        Of the pipeline.
    slowest_transfer_s : array
        One activation over the slowest link between two stages [s].
    path_s : array
        One activation over all links, one after another, with their latencies [s].
    """
    further = np.maximum(np.asarray(micro_batches) - 1, 0.0)
    compute, exposed = np.zeros(1), np.zeros(1)
    for phase in (forward_s, backward_s):
        compute = compute + (further + stages) * np.asarray(phase)
        exposed = exposed + further * np.maximum(slowest_transfer_s - np.asarray(phase), 0.0)
    return FarPipeline(np.asarray(compute), np.asarray(exposed + 2 * np.asarray(path_s)))
