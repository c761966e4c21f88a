"""The contract of a checkpoint rule: how much work lies between two checkpoints."""

from __future__ import annotations

from typing import ClassVar, Final, Protocol

import numpy as np

from advisor.core.registry import Registry
from advisor.predictor.arrays import FloatArray, Floats
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import Lifetime

SHORTEST_INTERVAL_S: Final = 1.0


class IntervalRule(Protocol):
    """A way to choose the interval. One file per rule in `advisor.transient.intervals`."""

    label: ClassVar[str]
    paper: ClassVar[str]

    def interval_s(self, job: SpotJob) -> float:
        """Return the work between checkpoints [s], at most the work of the job."""


INTERVALS: Final[Registry[type[IntervalRule]]] = Registry(
    "checkpoint rule", "advisor.transient.intervals"
)


def between_revocations_s(lifetime: Lifetime, age_s: Floats, times: Floats) -> FloatArray:
    """Mean running time per revocation of groups that are given back at an age [s].

    The mean lifetime where the hazard is constant; less than it in a job that meets a front-loaded
    hazard only.
    """
    failed = np.maximum(1 - lifetime.survival(age_s, times), 1e-12)
    return np.asarray(lifetime.mean_until(age_s, times) / failed)


def group_between_s(job: SpotJob) -> float:
    """Mean running time per revocation that the group of a job meets [s]."""
    age = job.overheads.load_s + job.work_s
    return float(between_revocations_s(job.lifetime, age, job.group_times))


def within_work(interval_s: Floats, work_s: Floats) -> FloatArray:
    """Keep an interval [s] between a second and the whole work [s]."""
    return np.clip(interval_s, np.minimum(SHORTEST_INTERVAL_S, work_s), work_s)


def young_s(checkpoint_s: Floats, between_s: Floats, work_s: Floats) -> FloatArray:
    """Young's interval [s]: the root of twice the checkpoint times the time between failures.

    First order, for a checkpoint that is short against that time (Young 1974,
    doi:10.1145/361147.361115); kept between a second and the whole work.

    >>> float(young_s(50.0, 10_000.0, 36_000.0))
    1000.0
    """
    return within_work(np.sqrt(2 * np.asarray(checkpoint_s) * between_s), work_s)
