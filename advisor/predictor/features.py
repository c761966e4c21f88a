"""What the learned correction sees of a job: scale-free numbers, mostly logarithms."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import StepColumns
from advisor.predictor.compute import micro_batch_work
from advisor.predictor.jobs import Jobs

FEATURES: Final = (
    "log_flops", "log_traffic", "log_roofline_ratio", "log_peak", "log_memory_bandwidth",
    "log_ridge", "log_memory", "log_devices", "log_nodes", "devices_per_node", "log_link",
    "log_network", "log_params", "log_layers", "log_tokens", "log_hidden", "log_micro_batch",
    "log_accumulation", "log_global_batch", "tensor_parallel", "pipeline_parallel", "zero_stage",
    "recompute_share", "parameter_servers", "backward_ratio", "compute_share",
    "communication_share", "overhead_share", "precision", "hardware_year", "year", "family",
    "stack", "log_step", "log_flops_per_param", "log_data_parallel", "framework_effect",
)  # fmt: skip


def feature_matrix(jobs: Jobs, parts: StepColumns, framework_effect: FloatArray) -> FloatArray:
    """Return the features of every job, shape (jobs, features), all finite.

    `parts` are the physics' own, `framework_effect` is of `FrameworkEffects`.
    """
    work = micro_batch_work(jobs)
    total = parts.total_s
    log = np.log
    columns = [
        log(work.flops), log(work.traffic_bytes),
        log(work.flops / jobs.peak_flops) - log(work.traffic_bytes / jobs.memory_bytes_per_s),
        log(jobs.peak_flops), log(jobs.memory_bytes_per_s),
        log(jobs.peak_flops / jobs.memory_bytes_per_s), log(jobs.memory_bytes),
        log(jobs.devices), log(jobs.nodes), jobs.devices_per_node, log(jobs.link_bytes_per_s),
        log(jobs.network_bytes_per_s), log(jobs.params), log(jobs.layers),
        log(jobs.tokens_per_sample), log(jobs.hidden + 1), log(jobs.micro_batch),
        log(jobs.accumulation), log(jobs.global_batch), jobs.tensor_parallel,
        jobs.pipeline_parallel, jobs.zero_stage, jobs.recompute_share, jobs.parameter_servers,
        jobs.backward_ratio, parts.compute_s / total, parts.exposed_communication_s / total,
        parts.overhead_s / total, jobs.precision_code, jobs.hardware_year, jobs.year,
        jobs.family_code, jobs.stack_code, log(total),
        log(jobs.forward_flops_per_sample / jobs.params), log(jobs.data_parallel),
        framework_effect,
    ]  # fmt: skip
    return np.column_stack(columns)
