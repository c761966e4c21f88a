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
NAMES: Final = ("seen", "new scale", "new model", "new accelerator")
# Twice the largest measured cluster of a kind is still its scale.
SCALE_REACH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Models, accelerators and scales in the training data, as sets of rounded numbers."""

    models: frozenset[tuple[float, ...]]
    accelerators: frozenset[tuple[float, ...]]
    pairs: frozenset[tuple[float, ...]]
    most_devices: dict[int, float]

    @classmethod
    def of(cls, jobs: Jobs) -> Seen:
        """Collect what `jobs` have seen."""
        models, accelerators = model_keys(jobs), accelerator_keys(jobs)
        kinds = kind_of(jobs)
        most = {k: float(jobs.devices[kinds == k].max()) for k in np.unique(kinds).tolist()}
        return cls(
            models=frozenset(models),
            accelerators=frozenset(accelerators),
            pairs=frozenset(m + a for m, a in zip(models, accelerators, strict=True)),
            most_devices=most,
        )

    def difficulty(self, jobs: Jobs) -> np.ndarray:
        """Return SEEN, NEW_SCALE, NEW_MODEL or NEW_GPU for every job, shape (n,)."""
        models, accelerators = model_keys(jobs), accelerator_keys(jobs)
        new_gpu = np.array([a not in self.accelerators for a in accelerators])
        new_model = np.array(
            [m + a not in self.pairs for m, a in zip(models, accelerators, strict=True)]
        )
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


def _keys(*columns: FloatArray) -> list[tuple[float, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))
