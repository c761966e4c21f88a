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
# Where Megatron-LM cuts the model it reserves more than is allocated, states included: 17, 17 and
# 8 % in the logs of three runs (bigscience-workshop/bigscience); and every further group has
# communicators of its own, 1 GB in the reserve of Sailor's simulator (eth-easl/sailor).
CUT_FRAGMENTATION: Final = 0.12
GROUP_BYTES: Final = 1.0 * GB
# Logits in half precision, and a float copy with its gradient for the loss; in full precision
# the loss works on the logits themselves.
LOGIT_BYTES: Final = 6.0
FULL_LOGIT_BYTES: Final = 8.0
FULL_PRECISION_BYTES: Final = 4.0
# Attention scores that are not fused away are kept 2.5 times in half precision (softmax, its
# dropped-out copy or a float one, a mask); full precision keeps the softmax alone: 43 elements per
# token and width in the layer profiles of OPT-350M (eth-easl/sailor), 32 of them scores.
FULL_PRECISION_SCORES: Final = 1 / 2.5
# Megatron-LM accumulates gradients in full precision: 18 bytes of states per parameter where
# DeepSpeed and FSDP take 16 (its guide of the distributed optimizer, "bf16 param, fp32 grads").
FLOAT_GRADIENT_BYTES: Final = 4.0
# Spread of measured over computed peaks, as the standard deviation of the logarithm: of sharded
# data parallelism, and of layouts that cut the model, whose implementations differ more
# (docs/accuracy.md, "memory"); and the share of the capacity the device itself keeps back.
LOG_SPREAD: Final = 0.10
CUT_LOG_SPREAD: Final = 0.20
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
    gradients = trainable * _gradient_width(jobs) / np.where(jobs.zero_stage >= 2, shards, 1.0)
    states = trainable * jobs.optimizer_bytes_per_param
    activations = activation_bytes(jobs)
    # ZeRO-3 holds the parameters of two layers: the one at work and the next.
    layer = stage / jobs.layers * jobs.pipeline_parallel * jobs.bytes_per_element
    gathered = np.where(jobs.zero_stage >= 3, 2 * layer, 0.0)
    states = states / np.where(jobs.zero_stage >= 1, shards, 1.0)
    dynamic = gradients + activations + gathered
    lost = np.where(
        _as_megatron(jobs),
        CUT_FRAGMENTATION * (dynamic + weights + states),
        FRAGMENTATION * dynamic,
    )
    buckets = np.where(jobs.data_parallel * jobs.tensor_parallel > 1, BUCKET_BYTES, 0.0)
    groups = np.where(_as_megatron(jobs), GROUP_BYTES, 0.0)
    return MemoryColumns(
        parameters_bytes=np.asarray(weights),
        gradients_bytes=np.asarray(gradients),
        optimizer_bytes=np.asarray(states),
        activations_bytes=activations,
        workspace_bytes=np.asarray(
            CONTEXT_BYTES + buckets + groups + gathered + _logit_bytes(jobs) + lost
        ),
    )


def is_cut(jobs: Jobs) -> np.ndarray:
    """Return which layouts cut the model by tensor or pipeline parallelism, shape (n,)."""
    return np.asarray(jobs.tensor_parallel * jobs.pipeline_parallel > 1)


def _as_megatron(jobs: Jobs) -> np.ndarray:
    """Return which layouts are those of Megatron-LM: cut, and nothing but the states sharded."""
    return np.asarray(is_cut(jobs) & (jobs.zero_stage <= 1))


def _gradient_width(jobs: Jobs) -> FloatArray:
    """Return the bytes of one gradient: wider where Megatron-LM accumulates them."""
    mixed = jobs.bytes_per_element < FULL_PRECISION_BYTES
    wide = _as_megatron(jobs) & mixed
    return np.asarray(np.where(wide, FLOAT_GRADIENT_BYTES, jobs.bytes_per_element))


def _stage_share(jobs: Jobs) -> FloatArray:
    """Return the share of the layers on the fullest stage: uneven stages have one more."""
    layers = np.maximum(jobs.layers, 1.0)
    return np.asarray(np.ceil(layers / jobs.pipeline_parallel) / np.ceil(layers))


def _stage_params(jobs: Jobs) -> FloatArray:
    """Return parameters of the fullest stage's device: its layers and the embedding."""
    blocks = jobs.params - jobs.embedding_params
    return (blocks * _stage_share(jobs) + jobs.embedding_params) / jobs.tensor_parallel


def _logit_bytes(jobs: Jobs) -> FloatArray:
    """Return what the logits add to the peak [bytes].

    They are on the last stage, which holds one micro-batch while the first one holds several.
    """
    tokens = jobs.micro_batch * jobs.tokens_per_sample
    full = jobs.bytes_per_element >= FULL_PRECISION_BYTES
    width = np.where(full, FULL_LOGIT_BYTES, LOGIT_BYTES)
    logits = tokens * jobs.vocab * width / jobs.tensor_parallel
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
    full = jobs.bytes_per_element >= FULL_PRECISION_BYTES
    scores = np.where(full, FULL_PRECISION_SCORES, 1.0) * jobs.attention_elements_per_sample
    unfused = (1 - jobs.fused_attention) * scores
    kept = jobs.activation_elements_per_sample + unfused
    share = held * _stage_share(jobs)
    all_kept = kept * share
    boundaries = jobs.boundary_elements_per_sample * jobs.layers * share
    repeated = boundaries + kept / jobs.layers
    recomputed = jobs.recompute_share
    elements = (1 - recomputed) * all_kept + recomputed * np.minimum(repeated, all_kept)
    return np.asarray(elements * jobs.micro_batch * jobs.bytes_per_element / jobs.tensor_parallel)


def memory_spread(jobs: Jobs) -> FloatArray:
    """Return the spread of the logarithm of the true peak about the computed one."""
    return np.where(is_cut(jobs), CUT_LOG_SPREAD, LOG_SPREAD)


def out_of_memory_probability(
    used_bytes: FloatArray, capacity_bytes: FloatArray, log_spread: Floats = LOG_SPREAD
) -> FloatArray:
    """Return the chance that the true peak exceeds what the device can give.

    The true peak is log-normal about the computed one with `log_spread`.

    Examples
    --------
    >>> round(float(out_of_memory_probability(np.array(40e9), np.array(80e9))), 3)
    0.0
    """
    usable = capacity_bytes * (1 - RESERVED_SHARE)
    return np.asarray(ndtr(np.log(used_bytes / usable) / log_spread))
