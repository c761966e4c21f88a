"""The step time from physics alone, as parts that sum to it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats
from advisor.predictor.collectives import (
    LINK_EFFICIENCY,
    LINK_LATENCY_S,
    NETWORK_EFFICIENCY,
    NETWORK_LATENCY_S,
    hierarchical_gather_s,
    point_to_point_s,
    ring_all_reduce_s,
    smooth_min,
)
from advisor.predictor.compute import ComputeCosts, micro_batch_s, micro_batch_work
from advisor.predictor.jobs import Jobs
from advisor.predictor.pipeline import bubble_ratio

# Gradient exchange that overlaps the backward pass still delays it: contention for memory and
# multiprocessors. Measured shares of hidden communication lie at 0.8 to 0.95 (Rajbhandari et
# al., 2020, arXiv 1910.02054, section 7; PyTorch FSDP, arXiv 2304.11277, section 5).
OVERLAP: Final = 0.85
GRADIENT_BYTES_PER_PARAM: Final = 2.0
OPTIMIZER_PASSES: Final = 2.0
STEP_OVERHEAD_S: Final = 2e-3
# A parameter server receives a gradient and sends the parameters in full precision.
SERVER_BYTES_PER_PARAM: Final = 8.0


@dataclass(frozen=True, slots=True)
class StepColumns:
    """Parts of one optimizer step [s], one row per job."""

    compute_s: FloatArray
    exposed_communication_s: FloatArray
    bubble_s: FloatArray
    overhead_s: FloatArray

    @property
    def total_s(self) -> FloatArray:
        """The step."""
        return self.compute_s + self.exposed_communication_s + self.bubble_s + self.overhead_s

    def times(self, factor: FloatArray) -> StepColumns:
        """Return every part multiplied by `factor`."""
        return StepColumns(**{f.name: getattr(self, f.name) * factor for f in fields(self)})

    def take(self, rows: np.ndarray) -> StepColumns:
        """Return the given rows."""
        return StepColumns(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def step_columns(jobs: Jobs, costs: ComputeCosts) -> StepColumns:
    """Predict the parts of a step of every job.

    Data parallel: gradients are exchanged once per step, hidden behind the last backward pass.
    ZeRO-3 gathers the parameters of every micro-batch twice. Tensor parallel: two all-reduces
    per layer and direction, not hidden. Pipeline: 1F1B bubble and one transfer per boundary.
    """
    busy, launch = micro_batch_s(micro_batch_work(jobs), jobs, costs)
    tensor = tensor_parallel_s(jobs)
    transfer = stage_transfer_s(jobs)
    per_micro_batch = busy + launch + tensor + transfer
    data = exposed_data_parallel_s(jobs, per_micro_batch)
    bubble = bubble_ratio(jobs.pipeline_parallel, jobs.accumulation)
    server = server_wait_s(jobs, per_micro_batch)
    return StepColumns(
        compute_s=busy * jobs.accumulation,
        exposed_communication_s=(tensor + transfer) * jobs.accumulation + data + server,
        bubble_s=np.asarray(bubble * per_micro_batch * jobs.accumulation),
        overhead_s=launch * jobs.accumulation + optimizer_s(jobs) + STEP_OVERHEAD_S,
    )


def tensor_parallel_s(jobs: Jobs) -> FloatArray:
    """All-reduces of one micro-batch through one stage [s].

    Two per layer forward, two backward, two more when the forward pass is repeated (Shoeybi et
    al., 2019, arXiv 1909.08053, section 3), each of micro-batch × tokens × hidden elements.
    """
    size = jobs.micro_batch * jobs.boundary_elements_per_sample * jobs.bytes_per_element
    inside = jobs.tensor_parallel <= jobs.devices_per_node
    per_device = np.where(
        inside,
        jobs.link_bytes_per_s * LINK_EFFICIENCY,
        jobs.network_bytes_per_s * NETWORK_EFFICIENCY / jobs.devices_per_node,
    )
    latency = np.where(inside, LINK_LATENCY_S, NETWORK_LATENCY_S)
    once = ring_all_reduce_s(size, jobs.tensor_parallel, per_device, latency)
    calls = (4 + 2 * jobs.recompute_share) * jobs.layers / jobs.pipeline_parallel
    return np.asarray(np.where(jobs.tensor_parallel > 1, calls * once, 0.0))


def stage_transfer_s(jobs: Jobs) -> FloatArray:
    """Activations forward and gradients backward across one stage boundary, per micro-batch [s]."""
    size = jobs.micro_batch * jobs.boundary_elements_per_sample * jobs.bytes_per_element
    crosses = jobs.tensor_parallel * jobs.pipeline_parallel > jobs.devices_per_node
    share = size / jobs.tensor_parallel
    bandwidth = np.where(
        crosses,
        jobs.network_bytes_per_s * NETWORK_EFFICIENCY / jobs.devices_per_node,
        jobs.link_bytes_per_s * LINK_EFFICIENCY,
    )
    latency = np.where(crosses, NETWORK_LATENCY_S, LINK_LATENCY_S)
    once = point_to_point_s(share, bandwidth, latency)
    return np.asarray(np.where(jobs.pipeline_parallel > 1, 2 * once, 0.0))


def exposed_data_parallel_s(jobs: Jobs, per_micro_batch_s: FloatArray) -> FloatArray:
    """Gradient (and ZeRO parameter) exchange that the arithmetic does not hide, per step [s]."""
    in_node = np.clip(jobs.devices_per_node / jobs.tensor_parallel, 1.0, jobs.data_parallel)
    in_node = np.where(jobs.tensor_parallel * jobs.pipeline_parallel >= jobs.devices_per_node,
                       1.0, in_node)  # fmt: skip
    nodes = jobs.data_parallel / in_node
    groups = np.clip(jobs.devices_per_node / in_node, 1.0, None)
    share = jobs.tensor_parallel * jobs.pipeline_parallel
    gather = hierarchical_gather_s(
        jobs.params / share * jobs.bytes_per_element, in_node, nodes,
        jobs.link_bytes_per_s, jobs.network_bytes_per_s, groups,
    )  # fmt: skip
    scatter = hierarchical_gather_s(
        jobs.trainable_params / share * np.minimum(jobs.bytes_per_element, 4.0), in_node, nodes,
        jobs.link_bytes_per_s, jobs.network_bytes_per_s, groups,
    )  # fmt: skip
    backward = (
        per_micro_batch_s
        * (jobs.backward_ratio + jobs.recompute_share)
        / (1 + jobs.backward_ratio + jobs.recompute_share)
    )
    once = np.asarray(_exposed(2 * scatter, backward))
    sharded = np.asarray(
        _exposed(2 * gather + scatter / jobs.accumulation, per_micro_batch_s) * jobs.accumulation
    )
    parallel = (jobs.data_parallel > 1) & (jobs.parameter_servers == 0)
    return np.where(parallel, np.where(jobs.zero_stage >= 3, sharded, once), 0.0)


def _exposed(communication_s: Floats, window_s: Floats) -> FloatArray:
    hidden = np.minimum(OVERLAP * communication_s, window_s)
    return np.asarray(communication_s - hidden)


def server_wait_s(jobs: Jobs, step_s: FloatArray) -> FloatArray:
    """Waiting of asynchronous workers on saturated parameter servers, per worker batch [s].

    The cluster's speed is the smooth minimum of workers × own speed and what the servers'
    network carries (`collectives.smooth_min`).
    """
    workers = jobs.data_parallel
    free = workers / step_s
    servers = np.maximum(jobs.parameter_servers, 1.0)
    cap = servers * jobs.network_bytes_per_s / (SERVER_BYTES_PER_PARAM * jobs.params)
    wait = workers / np.asarray(smooth_min(free, cap)) - step_s
    return np.where(jobs.parameter_servers > 0, np.maximum(wait, 0.0), 0.0)


def optimizer_s(jobs: Jobs) -> FloatArray:
    """Reading and writing optimizer state, gradients and parameters once per step [s]."""
    shards = jobs.tensor_parallel * jobs.pipeline_parallel
    shards = shards * np.where(jobs.zero_stage >= 1, jobs.data_parallel, 1.0)
    moved = (
        jobs.trainable_params
        / shards
        * (OPTIMIZER_PASSES * jobs.optimizer_bytes_per_param + GRADIENT_BYTES_PER_PARAM)
    )
    return moved / jobs.memory_bytes_per_s
