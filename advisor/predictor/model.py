"""The step-time model: physics × learned correction, with a conformal interval."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import StepColumns, step_columns
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.costs import costs_of, fit_costs
from advisor.predictor.difficulty import (
    NEW_GPU,
    NEW_MODEL,
    NEW_SCALE,
    SEEN,
    Seen,
    accelerator_keys,
    group_of,
    model_keys,
)
from advisor.predictor.features import feature_matrix
from advisor.predictor.interval import GroupConformal
from advisor.predictor.jobs import Jobs
from advisor.predictor.residual import FadingRegressor

FOLDS = 5
LARGE_SCALE_DEVICES = 128


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted steps, one row per job; times in seconds.

    ``parts`` contain the correction and sum to ``step_s``; ``log_sigma`` is the spread of the
    logarithm, ``low_s`` and ``high_s`` the bounds at the model's level.
    """

    parts: StepColumns
    correction: FloatArray
    log_sigma: FloatArray
    log_half_width: FloatArray
    difficulty: np.ndarray
    distance: FloatArray

    @property
    def step_s(self) -> FloatArray:
        """The step."""
        return self.parts.total_s

    @property
    def low_s(self) -> FloatArray:
        """Lower bound."""
        return self.step_s * np.exp(-self.log_half_width)

    def take(self, rows: np.ndarray) -> Prediction:
        """Return the given rows."""
        return Prediction(
            parts=self.parts.take(rows),
            **{f.name: getattr(self, f.name)[rows] for f in fields(self) if f.name != "parts"},
        )

    @property
    def high_s(self) -> FloatArray:
        """Upper bound."""
        return self.step_s * np.exp(self.log_half_width)


@dataclass(frozen=True, slots=True)
class PointModel:
    """Physics with fitted constants and the learned correction, without an interval."""

    costs: dict[int, ComputeCosts]
    correction: FadingRegressor

    @classmethod
    def fit(cls, jobs: Jobs, step_s: FloatArray) -> PointModel:
        """Fit to measured steps [s]."""
        log_step = np.log(step_s)
        costs = fit_costs(jobs, log_step)
        parts = step_columns(jobs, costs_of(jobs, costs))
        learner = FadingRegressor(near=6.0)
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


@dataclass(frozen=True, slots=True)
class StepTimeModel:
    """A point model with intervals calibrated on held-out groups of its own training runs."""

    point: PointModel
    conformal: GroupConformal
    seen: Seen
    runs: int

    @classmethod
    def fit(cls, jobs: Jobs, step_s: FloatArray, config: np.ndarray) -> StepTimeModel:
        """Fit to measured steps.

        Parameters
        ----------
        jobs : Jobs
            Measured runs.
        step_s : array of shape (n,)
            Measured steps [s].
        config : array of shape (n,)
            Label of each run's configuration; siblings share one and are held out together.
        """
        groups, distances, residuals = held_out_residuals(jobs, step_s, config)
        return cls(
            point=PointModel.fit(jobs, step_s),
            conformal=GroupConformal().fit(groups, distances, residuals),
            seen=Seen.of(jobs),
            runs=len(jobs),
        )

    def predict(self, jobs: Jobs) -> Prediction:
        """Predict the step of every job."""
        parts, factor, distance = self.point.predict(jobs)
        difficulty = self.seen.difficulty(jobs)
        groups = group_of(difficulty, jobs)
        return Prediction(
            parts=parts,
            correction=factor,
            log_sigma=self.conformal.sigma(groups, distance),
            log_half_width=self.conformal.half_width(groups, distance),
            difficulty=difficulty,
            distance=distance,
        )


def held_out_residuals(
    jobs: Jobs, step_s: FloatArray, config: np.ndarray
) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """Return (conformal group, distance, log residual) of predictions for held-out groups.

    Four ways of holding out give the four difficulties: configurations, models, accelerators,
    and everything at `LARGE_SCALE_DEVICES` or more.
    """
    models, accelerators = _labels(model_keys(jobs)), _labels(accelerator_keys(jobs))
    splits = [(SEEN, f) for f in folds(config)]
    splits += [(NEW_MODEL, f) for f in folds(models)]
    splits += [(NEW_GPU, f) for f in folds(accelerators)]
    splits.append((NEW_SCALE, jobs.devices >= LARGE_SCALE_DEVICES))
    groups, distances, residuals = [], [], []
    for difficulty, held in splits:
        if not held.any() or held.all():
            continue
        point = PointModel.fit(jobs.take(~held), step_s[~held])
        tested = jobs.take(held)
        parts, _, distance = point.predict(tested)
        groups.append(group_of(np.full(len(tested), difficulty), tested))
        distances.append(distance)
        residuals.append(np.log(step_s[held]) - np.log(parts.total_s))
    return np.concatenate(groups), np.concatenate(distances), np.concatenate(residuals)


def folds(labels: np.ndarray, number: int = FOLDS) -> list[np.ndarray]:
    """Split whole groups into `number` masks, dealt in a fixed shuffled order."""
    names, code = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(names)) % number
    return [order[code] == fold for fold in range(number)]


def _labels(keys: list[tuple[float, ...]]) -> np.ndarray:
    return np.unique(np.array(keys), axis=0, return_inverse=True)[1]
