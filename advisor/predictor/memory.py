"""Peak memory of the fullest device, as parts, and the chance that it does not fit.

Equations from Rajbhandari et al., 2020, arXiv 1910.02054 (ZeRO: what is sharded), and Korthikanti
et al., 2022, arXiv 2205.05198 (activations under tensor and pipeline parallelism and
recomputation; sequence parallelism is assumed wherever tensor parallelism is used).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from scipy.special import ndtr

from advisor.core.units import GB
from advisor.predictor.arrays import FloatArray, Floats
from advisor.predictor.jobs import Jobs
from advisor.predictor.pipeline import micro_batches_in_flight

# Driver context, framework and collective buffers; 1 GB of them is the context alone
# (pytorch/pytorch#12873 reports 0.5 to 1.2 GB by device).
CONTEXT_BYTES: Final = 1.3 * GB
BUCKET_BYTES: Final = 0.5 * GB
# The allocator loses a share of what it hands out; 1 to 6 % are reported with large blocks.
FRAGMENTATION: Final = 0.04
# Logits in the training precision, and a float copy with its gradient for the loss.
LOGIT_BYTES: Final = 6.0
# Spread of measured over computed peaks, as the standard deviation of the logarithm, and the
# share of the capacity the device itself keeps back.
LOG_SPREAD: Final = 0.10
RESERVED_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True)
class MemoryColumns:
    """Parts of the peak [bytes], one row per job."""

    parameters_bytes: FloatArray
    gradients_bytes: FloatArray
    optimizer_bytes: FloatArray
    activations_bytes: FloatArray
    workspace_bytes: FloatArray

    @property
    def used_bytes(self) -> FloatArray:
        """The sum of the parts."""
        return (
            self.parameters_bytes
            + self.gradients_bytes
            + self.optimizer_bytes
            + self.activations_bytes
            + self.workspace_bytes
        )

    def take(self, rows: np.ndarray) -> MemoryColumns:
        """Return the given rows."""
        return MemoryColumns(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def memory_columns(jobs: Jobs) -> MemoryColumns:
    """Predict the parts of the peak of the fullest device.

    That is one of the first pipeline stage, unless the logits of the last one weigh more than
    the further micro-batches that the first one holds.
    """
    stage = _stage_params(jobs)
    trainable = stage * jobs.trainable_params / jobs.params
    shards = jobs.data_parallel
    weights = stage * jobs.base_bytes_per_param / np.where(jobs.zero_stage >= 3, shards, 1.0)
    gradients = trainable * jobs.bytes_per_element / np.where(jobs.zero_stage >= 2, shards, 1.0)
    states = trainable * jobs.optimizer_bytes_per_param
    activations = activation_bytes(jobs)
    # ZeRO-3 holds the parameters of two layers: the one at work and the next.
    layer = stage / jobs.layers * jobs.pipeline_parallel * jobs.bytes_per_element
    gathered = np.where(jobs.zero_stage >= 3, 2 * layer, 0.0)
    dynamic = gradients + activations + gathered
    buckets = np.where(jobs.data_parallel * jobs.tensor_parallel > 1, BUCKET_BYTES, 0.0)
    return MemoryColumns(
        parameters_bytes=np.asarray(weights),
        gradients_bytes=np.asarray(gradients),
        optimizer_bytes=np.asarray(states / np.where(jobs.zero_stage >= 1, shards, 1.0)),
        activations_bytes=activations,
        workspace_bytes=np.asarray(
            CONTEXT_BYTES + buckets + gathered + _logit_bytes(jobs) + FRAGMENTATION * dynamic
        ),
    )


def _stage_params(jobs: Jobs) -> FloatArray:
    """Return parameters of the first stage's device: its layers and the embedding."""
    blocks = jobs.params - jobs.embedding_params
    return (blocks / jobs.pipeline_parallel + jobs.embedding_params) / jobs.tensor_parallel


def _logit_bytes(jobs: Jobs) -> FloatArray:
    """Return what the logits add to the peak [bytes].

    They are on the last stage, which holds one micro-batch while the first one holds several.
    """
    tokens = jobs.micro_batch * jobs.tokens_per_sample
    logits = tokens * jobs.vocab * LOGIT_BYTES / jobs.tensor_parallel
    if np.all(jobs.pipeline_parallel == 1):
        return np.asarray(logits)
    spare = activation_bytes(jobs) - _kept_bytes(jobs, 1.0)
    return np.asarray(np.maximum(logits - spare, 0.0))


def activation_bytes(jobs: Jobs) -> FloatArray:
    """Return activations held by the first stage of a 1F1B pipeline [bytes].

    Without recomputation every kept element of the micro-batches in flight; with full
    recomputation the boundary of each layer, and one layer's elements while it is repeated.
    """
    return _kept_bytes(jobs, micro_batches_in_flight(jobs.pipeline_parallel, jobs.accumulation))


def _kept_bytes(jobs: Jobs, held: Floats) -> FloatArray:
    """Return the activations of `held` micro-batches on one stage [bytes]."""
    unfused = (1 - jobs.fused_attention) * jobs.attention_elements_per_sample
    kept = jobs.activation_elements_per_sample + unfused
    share = held / jobs.pipeline_parallel
    all_kept = kept * share
    boundaries = jobs.boundary_elements_per_sample * jobs.layers * share
    repeated = boundaries + kept / jobs.layers
    full = jobs.recompute_share
    elements = (1 - full) * all_kept + full * np.minimum(repeated, all_kept)
    return np.asarray(elements * jobs.micro_batch * jobs.bytes_per_element / jobs.tensor_parallel)


def out_of_memory_probability(used_bytes: FloatArray, capacity_bytes: FloatArray) -> FloatArray:
    """Return the chance that the true peak exceeds what the device can give.

    The true peak is log-normal about the computed one with `LOG_SPREAD`.

    Examples
    --------
    >>> round(float(out_of_memory_probability(np.array(40e9), np.array(80e9))), 3)
    0.0
    """
    usable = capacity_bytes * (1 - RESERVED_SHARE)
    return np.asarray(ndtr(np.log(used_bytes / usable) / LOG_SPREAD))
