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
NEW_BOTH: Final = 4
# What is easier than each: an interval is never narrower than for an easier question.
# A known model on a new accelerator is a pair that nobody measured, as a new model is on a known.
EASIER: Final = ((), (SEEN,), (SEEN,), (SEEN, NEW_MODEL), (NEW_MODEL, NEW_GPU))
# Twice the largest measured cluster of a kind is still its scale.
SCALE_REACH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Models, accelerators, their pairs, and scales in the training data."""

    models: frozenset[tuple[float, ...]]
    accelerators: frozenset[tuple[float, ...]]
    pairs: frozenset[tuple[float, ...]]
    most_devices: dict[int, float]

    @classmethod
    def of(cls, jobs: Jobs) -> Seen:
        """Collect what `jobs` have seen."""
        kinds = kind_of(jobs)
        most = {k: float(jobs.devices[kinds == k].max()) for k in np.unique(kinds).tolist()}
        return cls(
            models=frozenset(model_keys(jobs)),
            accelerators=frozenset(accelerator_keys(jobs)),
            pairs=frozenset(pair_keys(jobs)),
            most_devices=most,
        )

    def difficulty(self, jobs: Jobs) -> np.ndarray:
        """Return how hard every job is, shape (n,).

        NEW_BOTH is a model and an accelerator that are not seen; NEW_GPU an accelerator alone;
        NEW_MODEL a model that is not seen on the job's accelerator and stack; NEW_SCALE a
        cluster beyond what was measured.
        """
        unheard = _absent(model_keys(jobs), self.models)
        new_gpu = _absent(accelerator_keys(jobs), self.accelerators)
        new_model = _absent(pair_keys(jobs), self.pairs)
        kinds = kind_of(jobs)
        reach = SCALE_REACH * np.array([self.most_devices.get(k, 0.0) for k in range(len(KINDS))])
        new_scale = jobs.devices > reach[kinds]
        return np.select(
            [new_gpu & unheard, new_gpu, new_model, new_scale],
            [NEW_BOTH, NEW_GPU, NEW_MODEL, NEW_SCALE],
            SEEN,
        )


def group_of(difficulty: np.ndarray, jobs: Jobs) -> np.ndarray:
    """Return the conformal group: difficulty within the kind of network."""
    return np.asarray(difficulty * len(KINDS) + kind_of(jobs))


def model_keys(jobs: Jobs) -> list[tuple[float, ...]]:
    """Return what identifies a model, one key per job."""
    return _keys(*model_columns(jobs))


def model_columns(jobs: Jobs) -> tuple[FloatArray, FloatArray]:
    """Return what identifies a model: family and parameters to 5 %."""
    return jobs.family_code, np.round(np.log(jobs.params) / 0.05)


def accelerator_keys(jobs: Jobs) -> list[tuple[float, ...]]:
    """Return what identifies an accelerator, one key per job."""
    return _keys(*accelerator_columns(jobs))


def accelerator_columns(jobs: Jobs) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what identifies an accelerator: memory, bandwidth and year."""
    memory = np.round(jobs.memory_bytes / 1e9)
    return memory, np.round(jobs.memory_bytes_per_s / 1e9), jobs.hardware_year


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


def _absent(keys: list[tuple[float, ...]], known: frozenset[tuple[float, ...]]) -> np.ndarray:
    return np.array([key not in known for key in keys], dtype=bool)
