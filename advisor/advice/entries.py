"""One predicted layout in the words of the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.domain import Basis, Estimate, Layout, MemoryUse, StepParts
from advisor.predictor.compute import training_flops
from advisor.predictor.difficulty import NEW_MODEL, SEEN

if TYPE_CHECKING:
    from advisor.search.exact import BestLayouts

# Own runs that explain less of the variance than this leave a prediction what it was.
CALIBRATED_SHARE: Final = 0.1
# Nearer than this (in usual gaps between runs) a prediction is a look at the same run again.
MEASURED_DISTANCE: Final = 0.25
FAR_DISTANCE: Final = 3.0


def basis_of(best: BestLayouts, entry: int) -> Basis:
    """Return where the prediction of an entry came from."""
    if _explained(best, entry) >= CALIBRATED_SHARE:
        return "calibrated"
    return basis_without_runs(best, entry)


def _explained(best: BestLayouts, entry: int) -> float:
    """Return the share of the variance that the user's own runs explain."""
    if best.before is None:
        return 0.0
    ratio = best.prediction.log_sigma[entry] / best.before.log_sigma[entry]
    return float(1 - ratio**2)


def basis_without_runs(best: BestLayouts, entry: int) -> Basis:
    """Return where the prediction of an entry would have come from without own runs."""
    difficulty = int(best.prediction.difficulty[entry])
    distance = float(best.prediction.distance[entry])
    if difficulty == SEEN and distance <= MEASURED_DISTANCE:
        return "measured"
    near = difficulty in (SEEN, NEW_MODEL) and distance <= FAR_DISTANCE
    return "interpolated" if near else "extrapolated"


def layout_of(best: BestLayouts, entry: int) -> Layout:
    """Return the layout of an entry."""
    jobs = best.jobs
    return Layout(
        data_parallel=int(jobs.data_parallel[entry]),
        tensor_parallel=int(jobs.tensor_parallel[entry]),
        pipeline_parallel=int(jobs.pipeline_parallel[entry]),
        zero_stage=int(jobs.zero_stage[entry]),
        micro_batch=int(jobs.micro_batch[entry]),
        accumulation=int(jobs.accumulation[entry]),
        recompute="full" if jobs.recompute_share[entry] else "none",
    )


def mfu_of(best: BestLayouts, entry: int) -> float:
    """Model FLOPs utilisation: forward and backward FLOPs, no recomputation, of the dense peak.

    Source: Chowdhery et al., 2022, arXiv 2204.02311, appendix B.
    """
    jobs = best.jobs.take(np.array([entry]))
    flops = training_flops(jobs.forward_flops_per_sample, jobs.backward_ratio, 0.0)
    step = best.prediction.step_s[entry]
    share = flops * jobs.global_batch / (step * jobs.devices * jobs.peak_flops)
    return float(np.clip(np.asarray(share)[0], 0.0, 1.0))


def step_time_of(best: BestLayouts, entry: int, basis: Basis) -> Estimate:
    """Return the step time with its interval [s]."""
    prediction = best.prediction
    return Estimate(
        value=float(prediction.step_s[entry]),
        low=float(prediction.low_s[entry]),
        high=float(prediction.high_s[entry]),
        unit="s",
        basis=basis,
    )


def parts_of(best: BestLayouts, entry: int) -> StepParts:
    """Return the parts of the step."""
    parts = best.prediction.parts
    return StepParts(
        compute_s=float(parts.compute_s[entry]),
        exposed_communication_s=float(parts.exposed_communication_s[entry]),
        bubble_s=float(parts.bubble_s[entry]),
        overhead_s=float(parts.overhead_s[entry]),
        correction=float(best.prediction.correction[entry]),
    )


def memory_of(best: BestLayouts, entry: int) -> MemoryUse:
    """Return the peak memory of the fullest device."""
    memory = best.memory
    return MemoryUse(
        parameters_bytes=float(memory.parameters_bytes[entry]),
        gradients_bytes=float(memory.gradients_bytes[entry]),
        optimizer_bytes=float(memory.optimizer_bytes[entry]),
        activations_bytes=float(memory.activations_bytes[entry]),
        workspace_bytes=float(memory.workspace_bytes[entry]),
        capacity_bytes=float(best.jobs.memory_bytes[entry]),
        out_of_memory_probability=float(best.out_of_memory[entry]),
    )
