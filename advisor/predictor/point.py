"""The point prediction: physics × learned correction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import StepColumns, step_columns
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.costs import costs_of, fit_costs
from advisor.predictor.features import feature_matrix
from advisor.predictor.jobs import Jobs
from advisor.predictor.residual import FadingRegressor
from advisor.predictor.threads import one_thread


@dataclass(frozen=True, slots=True)
class PointModel:
    """Physics with fitted constants and the learned correction, without an interval."""

    costs: dict[int, ComputeCosts]
    correction: FadingRegressor

    @classmethod
    def fit(cls, jobs: Jobs, step_s: FloatArray) -> Self:
        """Fit to measured steps [s]."""
        log_step = np.log(step_s)
        with one_thread():
            costs = fit_costs(jobs, log_step)
        parts = step_columns(jobs, costs_of(jobs, costs))
        learner = FadingRegressor()
        learner.fit(feature_matrix(jobs, parts), log_step - np.log(parts.total_s))
        return cls(costs=costs, correction=learner)

    def baseline(self, jobs: Jobs) -> StepColumns:
        """Return the parts of the step from physics alone."""
        return step_columns(jobs, costs_of(jobs, self.costs))

    def predict(self, jobs: Jobs) -> tuple[StepColumns, FloatArray, FloatArray]:
        """Return corrected parts, the correction factor and the distance from the data."""
        parts = self.baseline(jobs)
        if not len(jobs):
            return parts, np.empty(0), np.empty(0)
        features = feature_matrix(jobs, parts)
        distance = self.correction.distance(features)
        factor = np.exp(self.correction.predict(features, distance=distance))
        return parts.times(factor), factor, distance
