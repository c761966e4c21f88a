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
from advisor.predictor.framework_effects import FrameworkEffects
from advisor.predictor.jobs import Jobs
from advisor.predictor.local import LocalProcesses
from advisor.predictor.residual import FadingRegressor
from advisor.predictor.threads import one_thread


@dataclass(frozen=True, slots=True)
class PointModel:
    """Physics with fitted constants and the learned correction, without an interval.

    The correction is the effect of the software framework, where it is known, and what the
    learner finds beyond it; both stand back where a framework's own process is better.
    """

    costs: dict[int, ComputeCosts]
    frameworks: FrameworkEffects
    correction: FadingRegressor
    local: LocalProcesses

    @classmethod
    def fit(cls, jobs: Jobs, step_s: FloatArray) -> Self:
        """Fit to measured steps [s]."""
        log_step = np.log(step_s)
        with one_thread():
            costs = fit_costs(jobs, log_step)
        parts = step_columns(jobs, costs_of(jobs, costs))
        residual = log_step - np.log(parts.total_s)
        frameworks = FrameworkEffects.fit(jobs, residual)
        effect = frameworks.of(jobs)
        features = feature_matrix(jobs, parts, effect)
        return cls(
            costs=costs,
            frameworks=frameworks,
            correction=FadingRegressor().fit(features, residual - effect),
            local=LocalProcesses.fit(jobs, features, residual),
        )

    def baseline(self, jobs: Jobs) -> StepColumns:
        """Return the parts of the step from physics alone."""
        return step_columns(jobs, costs_of(jobs, self.costs))

    def features(self, jobs: Jobs, parts: StepColumns | None = None) -> FloatArray:
        """Return what the learner sees of every job; `parts` of the baseline where known."""
        known = self.baseline(jobs) if parts is None else parts
        return feature_matrix(jobs, known, self.frameworks.of(jobs))

    def predict(self, jobs: Jobs) -> tuple[StepColumns, FloatArray, FloatArray]:
        """Return corrected parts, the correction factor and the distance from the data."""
        parts = self.baseline(jobs)
        if not len(jobs):
            return parts, np.empty(0), np.empty(0)
        features = self.features(jobs, parts)
        distance = self.correction.distance(features)
        trees = self.frameworks.of(jobs) + self.correction.whole(features)
        learned = self.local.replace(jobs, trees) * self.correction.weight(distance)
        factor = np.exp(learned)
        return parts.times(factor), factor, distance
