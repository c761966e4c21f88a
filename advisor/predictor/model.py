"""The step-time model: physics × learned correction, with a conformal interval."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import StepColumns
from advisor.predictor.components import VarianceComponents, fit_components
from advisor.predictor.costs import KINDS
from advisor.predictor.difficulty import EASIER, Seen, group_of
from advisor.predictor.effects import Labels
from advisor.predictor.held_out import held_out_residuals
from advisor.predictor.interval import GroupConformal
from advisor.predictor.jobs import Jobs
from advisor.predictor.point import PointModel

__all__ = ["PointModel", "Prediction", "StepTimeModel"]


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
class StepTimeModel:
    """A point model with intervals calibrated on held-out groups of its own training runs."""

    point: PointModel
    conformal: GroupConformal
    seen: Seen
    runs: int
    components: VarianceComponents

    @classmethod
    def fit(
        cls,
        jobs: Jobs,
        step_s: FloatArray,
        config: np.ndarray,
        source: np.ndarray | None = None,
    ) -> Self:
        """Fit to measured steps.

        Parameters
        ----------
        jobs : Jobs
            Measured runs.
        step_s : array of shape (n,)
            Measured steps [s].
        config : array of shape (n,)
            Label of each run's configuration; siblings share one and are held out together.
        source : array of shape (n,), optional
            Label of who measured a run. Each source counts equally in the intervals, so that
            one large table does not speak for all; by default all runs are of one.
        """
        origin = np.zeros(len(jobs)) if source is None else source
        held = held_out_residuals(jobs, step_s, config, origin)
        conformal = GroupConformal(siblings=len(KINDS), easier=EASIER)
        conformal.fit(held.groups, held.distance, held.residual, held.strata)
        components = fit_components(
            Labels.of(jobs),
            np.unique(origin, return_inverse=True)[1],
            held,
            conformal.sigma(held.groups, held.distance),
        )
        return cls(
            point=PointModel.fit(jobs, step_s),
            conformal=conformal,
            seen=Seen.of(jobs),
            runs=len(jobs),
            components=components,
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
