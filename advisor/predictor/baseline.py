"""The step time from physics alone, as parts that sum to it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
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
    Ranks are dealt to machines tensor first, then data, pipeline last, the default order of
    Megatron-LM and DeepSpeed.
    """
    busy, launch = micro_batch_s(micro_batch_work(jobs), jobs, costs)
    tensor = tensor_parallel_s(jobs)
    transfer = stage_transfer_s(jobs)
    per_micro_batch = busy + launch + tensor + transfer
    data = exposed_data_parallel_s(jobs, per_micro_batch)
    bubble = bubble_ratio(jobs.pipeline_parallel, jobs.accumulation)
    parts = StepColumns(
        compute_s=busy * jobs.accumulation,
        exposed_communication_s=(tensor + transfer) * jobs.accumulation + data,
        bubble_s=np.asarray(bubble * per_micro_batch * jobs.accumulation),
        overhead_s=launch * jobs.accumulation + optimizer_s(jobs) + STEP_OVERHEAD_S,
    )
    # Hardly any table has asynchronous rows: spare the others the arithmetic.
    return asynchronous_step(parts, jobs) if np.any(jobs.parameter_servers > 0) else parts


def tensor_parallel_s(jobs: Jobs) -> FloatArray:
    """All-reduces of one micro-batch through one stage [s].

    Two per layer forward, two backward, two more when the forward pass is repeated (Shoeybi et
    al., 2019, arXiv 1909.08053, section 3), each of micro-batch × tokens × hidden elements.
    """
    size = jobs.micro_batch * jobs.boundary_elements_per_sample * jobs.bytes_per_element
    inside = jobs.tensor_parallel <= jobs.devices_per_node
    link = jobs.link_bytes_per_s * LINK_EFFICIENCY
    # A group that spans machines has them to itself, and a ring through every network card.
    between = np.minimum(link, jobs.network_bytes_per_s * NETWORK_EFFICIENCY)
    latency = np.where(inside, LINK_LATENCY_S, NETWORK_LATENCY_S)
    slowest = np.where(inside, link, between)
    once = ring_all_reduce_s(size, jobs.tensor_parallel, slowest, latency)
    calls = (4 + 2 * jobs.recompute_share) * jobs.layers / jobs.pipeline_parallel
    return np.asarray(np.where(jobs.tensor_parallel > 1, calls * once, 0.0))


def stage_transfer_s(jobs: Jobs) -> FloatArray:
    """Activations forward and gradients backward across one stage boundary, per micro-batch [s].

    Tensor-parallel peers send a share each; the devices of a machine that hold one stage send
    at the same time.
    """
    size = jobs.micro_batch * jobs.boundary_elements_per_sample * jobs.bytes_per_element
    crosses = jobs.devices > jobs.devices_per_node
    share = size / jobs.tensor_parallel
    senders = np.minimum(jobs.tensor_parallel * jobs.data_parallel, jobs.devices_per_node)
    bandwidth = np.where(
        crosses,
        jobs.network_bytes_per_s * NETWORK_EFFICIENCY / senders,
        jobs.link_bytes_per_s * LINK_EFFICIENCY,
    )
    latency = np.where(crosses, NETWORK_LATENCY_S, LINK_LATENCY_S)
    once = point_to_point_s(share, bandwidth, latency)
    return np.asarray(np.where(jobs.pipeline_parallel > 1, 2 * once, 0.0))


def exposed_data_parallel_s(jobs: Jobs, per_micro_batch_s: FloatArray) -> FloatArray:
    """Gradient (and ZeRO parameter) exchange that the arithmetic does not hide, per step [s]."""
    in_node = np.clip(jobs.devices_per_node / jobs.tensor_parallel, 1.0, jobs.data_parallel)
    nodes = jobs.data_parallel / in_node
    groups = np.clip(jobs.devices_per_node / in_node, 1.0, None)
    share = jobs.tensor_parallel * jobs.pipeline_parallel
    gather = hierarchical_gather_s(
        jobs.params / share * jobs.bytes_per_element, in_node, nodes,
        jobs.link_bytes_per_s, jobs.network_bytes_per_s, groups,
    )  # fmt: skip
    scatter = hierarchical_gather_s(
        jobs.trainable_params / share * jobs.bytes_per_element, in_node, nodes,
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


def asynchronous_step(parts: StepColumns, jobs: Jobs) -> StepColumns:
    """Turn a worker's step into the time between two updates, where parameter servers are used.

    Workers step on their own: the cluster's speed is the smooth minimum of workers × own speed
    and what the servers' network carries (`collectives.smooth_min`). What the cap takes beyond
    that is waiting, counted as exposed communication.
    """
    asynchronous = jobs.parameter_servers > 0
    workers = np.where(asynchronous, jobs.data_parallel, 1.0)
    free = workers / parts.total_s
    servers = np.maximum(jobs.parameter_servers, 1.0)
    cap = servers * jobs.network_bytes_per_s / (SERVER_BYTES_PER_PARAM * jobs.params)
    wait = np.maximum(1 / np.asarray(smooth_min(free, cap)) - 1 / free, 0.0)
    shared = parts.times(1 / workers)
    exposed = shared.exposed_communication_s + np.where(asynchronous, wait, 0.0)
    return replace(shared, exposed_communication_s=exposed)


def optimizer_s(jobs: Jobs) -> FloatArray:
    """Reading and writing optimizer state, gradients and parameters once per step [s]."""
    shards = jobs.tensor_parallel * jobs.pipeline_parallel
    shards = shards * np.where(jobs.zero_stage >= 1, jobs.data_parallel, 1.0)
    moved = (
        jobs.trainable_params
        / shards
        * (OPTIMIZER_PASSES * jobs.optimizer_bytes_per_param + jobs.bytes_per_element)
    )
    return moved / jobs.memory_bytes_per_s
