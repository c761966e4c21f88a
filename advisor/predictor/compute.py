"""Time of the arithmetic: a roofline with a cost per kernel.

Work on one device is the sum of three terms: matrix arithmetic at a share of the peak, memory
traffic of everything that is not fused into it, and a cost per layer pass for launching kernels.
The sum (not the maximum) is what measurements of small and large networks show: on the twenty
CNNs of CM-DARE (arXiv 2004.03072) an additive non-negative fit beats every learner tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats
from advisor.predictor.jobs import Jobs

# Memory passes over each kept activation: written and read forward, read and its gradient
# written and read backward.
FORWARD_PASSES: Final = 2.0
BACKWARD_PASSES: Final = 3.0
# A fused kernel skips the half of the attention scores that a causal mask removes.
CAUSAL_SHARE: Final = 0.5


def training_flops(
    forward_flops: Floats, backward_ratio: Floats, recompute_share: Floats
) -> Floats:
    """FLOPs of forward, backward and recomputation, ``F (1 + b + r)``.

    With b = 2 this is the 6·N·D of Kaplan et al., 2020, arXiv 2001.08361, equation 2.3; with
    r = 1 the 4/3 of it of Narayanan et al., 2021, arXiv 2104.04473, section 3.5.

    Examples
    --------
    >>> float(training_flops(2.0, 2.0, 1.0))
    8.0
    """
    return forward_flops * (1 + backward_ratio + recompute_share)


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one micro-batch on one device: FLOPs, bytes moved, layer passes."""

    dense_flops: FloatArray
    attention_flops: FloatArray
    traffic_bytes: FloatArray
    layer_passes: FloatArray

    @property
    def flops(self) -> FloatArray:
        """All FLOPs."""
        return self.dense_flops + self.attention_flops


def micro_batch_work(jobs: Jobs) -> Work:
    """Return the work of one micro-batch on one device (its tensor and pipeline share)."""
    skipped = CAUSAL_SHARE * jobs.is_causal * jobs.fused_attention
    dense = jobs.forward_flops_per_sample - jobs.attention_flops_per_sample
    attention = (1 - skipped) * jobs.attention_flops_per_sample
    share = jobs.micro_batch / (jobs.tensor_parallel * jobs.pipeline_parallel)
    unfused = (1 - jobs.fused_attention) * jobs.attention_elements_per_sample
    elements = jobs.activation_elements_per_sample + unfused
    passes = FORWARD_PASSES * (1 + jobs.recompute_share) + BACKWARD_PASSES
    weights = jobs.active_params / (jobs.tensor_parallel * jobs.pipeline_parallel)
    times = training_flops(1.0, jobs.backward_ratio, jobs.recompute_share)
    return Work(
        dense_flops=np.asarray(dense * share * times),
        attention_flops=np.asarray(attention * share * times),
        traffic_bytes=jobs.bytes_per_element * (elements * share * passes + weights * times),
        layer_passes=jobs.layers / jobs.pipeline_parallel * (2 + jobs.recompute_share),
    )


@dataclass(frozen=True, slots=True)
class ComputeCosts:
    """What one unit of work costs relative to the data sheet; scalars, or one value per job.

    Attributes
    ----------
    arithmetic : array
        1 / (share of the peak that large matrices reach).
    narrowness : array
        Growth of that cost for narrow matrices: a matrix of width h has an arithmetic intensity
        of the order of h, so it costs ``1 + narrowness · (peak/bandwidth) / h`` times as much.
    attention : array
        As `arithmetic`, for attention scores, whose kernels reach less of the peak.
    traffic : array
        1 / (share of the memory bandwidth that element-wise kernels reach).
    layer_pass_s : array
        Launching one layer once [s].
    """

    arithmetic: Floats
    narrowness: Floats
    attention: Floats
    traffic: Floats
    layer_pass_s: Floats


def micro_batch_s(work: Work, jobs: Jobs, costs: ComputeCosts) -> tuple[FloatArray, FloatArray]:
    """Return (compute, launch overhead) of one micro-batch on one device [s]."""
    width = jobs.hidden / jobs.tensor_parallel
    ridge = jobs.peak_flops / jobs.memory_bytes_per_s
    narrow = np.where(width > 0, costs.narrowness * ridge / np.maximum(width, 1.0), 0.0)
    arithmetic = costs.arithmetic * (1 + narrow) * work.dense_flops
    attention = costs.attention * work.attention_flops
    traffic = costs.traffic * work.traffic_bytes / jobs.memory_bytes_per_s
    busy = (arithmetic + attention) / jobs.peak_flops + traffic
    return np.asarray(busy), np.asarray(costs.layer_pass_s * work.layer_passes)
