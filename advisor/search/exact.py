"""The exact pass: the corrected prediction of the shortlist, and the best layout of each count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import (
    MemoryColumns,
    memory_columns,
    memory_spread,
    out_of_memory_probability,
)
from advisor.predictor.model import Prediction
from advisor.search.wide import Shortlist, expected_time

if TYPE_CHECKING:
    from advisor.predictor import Predictor


@dataclass(frozen=True, slots=True)
class BestLayouts:
    """The corrected best layout of each machine shape and count, ordered by both.

    ``before`` is the prediction of the same layouts without the user's own runs, None where
    none calibrate.
    """

    hardware: np.ndarray
    machines: np.ndarray
    jobs: Jobs
    prediction: Prediction
    memory: MemoryColumns
    out_of_memory: FloatArray
    before: Prediction | None = None


def best_layouts(shortlist: Shortlist, predictor: Predictor) -> BestLayouts:
    """Predict the shortlist and keep, for each shape and count, what finishes first."""
    prediction = predictor.predict(shortlist.jobs)
    memory = memory_columns(shortlist.jobs)
    risk = out_of_memory_probability(
        memory.used_bytes, shortlist.jobs.memory_bytes, memory_spread(shortlist.jobs)
    )
    expected = expected_time(prediction.step_s, risk)
    order = np.lexsort((expected, shortlist.machines, shortlist.hardware))
    hardware, machines = shortlist.hardware[order], shortlist.machines[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(hardware) != 0) | (np.diff(machines) != 0)
    rows = order[first]
    jobs = shortlist.jobs.take(rows)
    return BestLayouts(
        hardware=shortlist.hardware[rows],
        machines=shortlist.machines[rows],
        jobs=jobs,
        prediction=prediction.take(rows),
        memory=memory.take(rows),
        out_of_memory=risk[rows],
        before=None if predictor.calibration is None else predictor.model.predict(jobs),
    )
