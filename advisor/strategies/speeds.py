"""How fast each kind of device runs the job, and what it needs of its memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from advisor.domain import Workload
from advisor.domain.mixed import DeviceGroup, Inventory
from advisor.predictor.arrays import FloatArray
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns
from advisor.predictor.workload_columns import workload_columns
from advisor.strategies.layer_times import LayerTimes, Line

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from advisor.predictor import Predictor

# Micro-batches that are predicted; beyond them time grows on a line.
MOST_PREDICTED: Final = 64
# Enough micro-batches that the optimizer, which a mix shares out otherwise, hardly counts.
ACCUMULATION: Final = 16
# Share of a device's memory left free, as the search leaves it.
MEMORY_MARGIN: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one device needs [bytes]: for the states unsharded, per sample, and in any case."""

    state_bytes: float
    sample_bytes: float
    fixed_bytes: float

    def used_bytes(self, micro_batch: float, state_share: float = 1.0) -> float:
        """Return the memory with a share of the states and a micro-batch."""
        return state_share * self.state_bytes + self.fixed_bytes + micro_batch * self.sample_bytes

    def most_samples(self, capacity_bytes: float, state_share: float = 1.0) -> int:
        """Return the largest micro-batch that fits within the margin; 0 for none."""
        room = (1 - MEMORY_MARGIN) * capacity_bytes - self.used_bytes(0, state_share)
        return max(int(room // self.sample_bytes), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """The job, the devices, and by the name of their group their layer times and memory.

    ``memory`` keeps all activations, ``recomputed`` those between layers only.
    """

    workload: Workload
    inventory: Inventory
    times: Mapping[str, LayerTimes]
    memory: Mapping[str, Memory]
    recomputed: Mapping[str, Memory]

    @property
    def layers(self) -> int:
        """Layers of the model."""
        return self.workload.model.layers

    def pass_s(self, group: DeviceGroup, micro_batch: float) -> tuple[float, float]:
        """Return forward and backward pass of the whole network on one device [s]."""
        forward, backward = self.times[group.name].at(np.array(micro_batch))
        return float(forward) * self.layers, float(backward) * self.layers

    def log_half_width(self, inventory: Inventory) -> float:
        """Return the widest interval of the kinds used, as if all erred together."""
        return max(self.times[group.name].log_half_width for group in inventory.groups)

    def on(self, inventory: Inventory) -> Self:
        """Return the speeds of some of the devices."""
        return replace(self, inventory=inventory)

    def scaled(self, name: str, factor: float) -> Self:
        """Return the speeds if one kind took `factor` times as long."""
        return replace(self, times={**self.times, name: self.times[name].times(factor)})

    def measured(self, times: Mapping[str, LayerTimes]) -> Self:
        """Return the speeds with the user's own layer profiles in place of predictions."""
        return replace(self, times={**self.times, **times})


def predicted_speeds(
    workload: Workload, inventory: Inventory, hardware: pd.DataFrame, predictor: Predictor
) -> Speeds:
    """Predict the layers of the job on each kind of device alone.

    Parameters
    ----------
    hardware : DataFrame
        Hardware columns of `advisor.predictor.jobs.Jobs`, one row per group.
    """
    top = int(min(MOST_PREDICTED, workload.global_batch))
    grid = np.unique(np.minimum(2 ** np.arange(top.bit_length() + 1), max(top, 2)))
    times, memory, recomputed = {}, {}, {}
    for group, row in zip(inventory.groups, hardware.to_dict("records"), strict=True):
        facts = {str(name): float(value) for name, value in row.items() if name in _HARDWARE}
        jobs = _jobs(workload, facts, grid.astype(float), recompute=0.0)
        times[group.name] = _layer_times(jobs, workload, grid, predictor)
        memory[group.name] = _memory(jobs)
        recomputed[group.name] = _memory(_jobs(workload, facts, grid.astype(float), recompute=1.0))
    return Speeds(
        workload=workload,
        inventory=inventory,
        times=times,
        memory=memory,
        recomputed=recomputed,
    )


_HARDWARE: Final = (
    "peak_flops", "memory_bytes", "memory_bytes_per_s", "link_bytes_per_s", "network_bytes_per_s",
    "devices_per_node", "hardware_year", "fused_attention", "year",
)  # fmt: skip


def _jobs(
    workload: Workload, facts: Mapping[str, float], micro_batch: FloatArray, *, recompute: float
) -> Jobs:
    """Return the job alone on one device, in `ACCUMULATION` micro-batches."""
    columns: dict[str, FloatArray | float] = {
        **workload_columns(workload),
        **facts,
        "global_batch": micro_batch * ACCUMULATION,
        "data_parallel": 1.0,
        "tensor_parallel": 1.0,
        "pipeline_parallel": 1.0,
        "zero_stage": 0.0,
        "micro_batch": micro_batch,
        "accumulation": float(ACCUMULATION),
        "recompute_share": recompute,
    }
    return Jobs.from_columns(**columns)


def _layer_times(
    jobs: Jobs, workload: Workload, grid: np.ndarray, predictor: Predictor
) -> LayerTimes:
    prediction = predictor.predict(jobs)
    per_layer = prediction.step_s / ACCUMULATION / workload.model.layers
    # What was learned bends by the batch; more samples never take less time.
    at_grid = np.maximum.accumulate(per_layer)
    table = np.interp(np.arange(1, int(grid[-1]) + 1), grid, at_grid)
    slope = (at_grid[-1] - at_grid[-2]) / (grid[-1] - grid[-2])
    slope = max(slope, at_grid[-1] / grid[-1] / 2)  # a flat end of the table is no free lunch
    whole = Line(float(slope), float(at_grid[-1] - slope * grid[-1]))
    forward = 1 / (1 + float(jobs.backward_ratio[0]))
    return LayerTimes(
        Line(whole.slope_s * forward, whole.intercept_s * forward),
        Line(whole.slope_s * (1 - forward), whole.intercept_s * (1 - forward)),
        table * forward,
        table * (1 - forward),
        float(prediction.log_half_width.max()),
    )


def _memory(jobs: Jobs) -> Memory:
    parts = memory_columns(jobs.take(np.array([0, 1])))
    state = parts.parameters_bytes + parts.gradients_bytes + parts.optimizer_bytes
    rest = parts.used_bytes - state
    more = float(jobs.micro_batch[1] - jobs.micro_batch[0])
    sample = float(rest[1] - rest[0]) / more
    return Memory(
        state_bytes=float(state[0]),
        sample_bytes=sample,
        fixed_bytes=float(rest[0]) - sample * float(jobs.micro_batch[0]),
    )
