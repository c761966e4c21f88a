"""How hard a prediction is: what of it the training data have seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import KINDS, kind_of
from advisor.predictor.jobs import Jobs

SEEN: Final = 0
NEW_SCALE: Final = 1
NEW_MODEL: Final = 2
NEW_GPU: Final = 3
# What is easier than each: on a new accelerator every model is a new one.
EASIER: Final = (SEEN, SEEN, SEEN, NEW_MODEL)
# Twice the largest measured cluster of a kind is still its scale.
SCALE_REACH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Accelerators, their pairs with models, and scales in the training data."""

    accelerators: frozenset[tuple[float, ...]]
    pairs: frozenset[tuple[float, ...]]
    most_devices: dict[int, float]

    @classmethod
    def of(cls, jobs: Jobs) -> Seen:
        """Collect what `jobs` have seen."""
        kinds = kind_of(jobs)
        most = {k: float(jobs.devices[kinds == k].max()) for k in np.unique(kinds).tolist()}
        return cls(
            accelerators=frozenset(accelerator_keys(jobs)),
            pairs=frozenset(pair_keys(jobs)),
            most_devices=most,
        )

    def difficulty(self, jobs: Jobs) -> np.ndarray:
        """Return SEEN, NEW_SCALE, NEW_MODEL or NEW_GPU for every job, shape (n,)."""
        new_gpu = np.array([key not in self.accelerators for key in accelerator_keys(jobs)], bool)
        new_model = np.array([key not in self.pairs for key in pair_keys(jobs)], bool)
        kinds = kind_of(jobs)
        reach = SCALE_REACH * np.array([self.most_devices.get(k, 0.0) for k in range(len(KINDS))])
        new_scale = jobs.devices > reach[kinds]
        return np.select([new_gpu, new_model, new_scale], [NEW_GPU, NEW_MODEL, NEW_SCALE], SEEN)


def group_of(difficulty: np.ndarray, jobs: Jobs) -> np.ndarray:
    """Return the conformal group: difficulty within the kind of network."""
    return np.asarray(difficulty * len(KINDS) + kind_of(jobs))


def model_keys(jobs: Jobs) -> list[tuple[float, ...]]:
    """Return what identifies a model: family and parameters to 5 %."""
    return _keys(jobs.family_code, np.round(np.log(jobs.params) / 0.05))


def accelerator_keys(jobs: Jobs) -> list[tuple[float, ...]]:
    """Return what identifies an accelerator: memory, bandwidth and year."""
    return _keys(
        np.round(jobs.memory_bytes / 1e9), np.round(jobs.memory_bytes_per_s / 1e9),
        jobs.hardware_year,
    )  # fmt: skip


def pair_keys(jobs: Jobs) -> list[tuple[float, ...]]:
    """Return what identifies a model on an accelerator under a software stack.

    Another stack runs the same network up to three times as fast; who has not measured it has
    not seen the run.
    """
    stacks = _keys(jobs.stack_code)
    keys = zip(model_keys(jobs), accelerator_keys(jobs), stacks, strict=True)
    return [model + accelerator + stack for model, accelerator, stack in keys]


def _keys(*columns: FloatArray) -> list[tuple[float, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))
