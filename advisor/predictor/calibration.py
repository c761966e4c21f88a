"""Calibration by the user's own runs: how far each prediction moves towards what was measured.

The logarithm of measured ÷ predicted of every run is the sum of random effects (`effects`), so
that of a job that has not run is known in part: all of it for the same job, hardly any for
another workload on another accelerator. Posterior mean and variance of a Gaussian process with
the effects as its covariance (Rasmussen and Williams, 2006, equations 2.25 and 2.26), in the
scale that the interval of each prediction states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from advisor.domain import OwnRun, OwnRuns, UnusedRun
from advisor.predictor.arrays import FloatArray
from advisor.predictor.components import VarianceComponents
from advisor.predictor.effects import Labels, alike
from advisor.predictor.model import Prediction

if TYPE_CHECKING:
    from advisor.domain import Likeness
    from advisor.predictor.jobs import Jobs
    from advisor.predictor.own_runs import OwnRunsTable

ROWS_AT_ONCE: Final = 20_000
# What a run shares with a prediction, from nothing to all; see `effects.EFFECTS`.
LIKENESSES: Final[tuple[Likeness, ...]] = (
    "nothing shared", "same software", "same accelerator", "same model",
    "same model and accelerator", "same job",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibration:
    """What own runs say of other predictions.

    Attributes
    ----------
    runs : OwnRuns
        Which runs count, each with measured and predicted step, and which do not and why.
    labels : Labels
        One row per job that was run.
    job_of_run : array of int, shape (runs,)
        Row of ``labels`` of every run that counts.
    counts : array of int, shape (jobs,)
        Runs of each.
    latent : array, shape (jobs,)
        Spread of the part of the error that stays when a run is repeated.
    pull : array, shape (jobs,)
        Inverse covariance of the jobs' mean errors, times the errors.
    inverse : array, shape (jobs, jobs)
        That inverse covariance.
    stack_code : float or None
        The software stack of most runs: the next job will have it too. None without runs.
    components : VarianceComponents
        Of the model that predicts.
    """

    runs: OwnRuns
    labels: Labels
    job_of_run: np.ndarray
    counts: np.ndarray
    latent: FloatArray
    pull: FloatArray
    inverse: FloatArray
    stack_code: float | None
    components: VarianceComponents

    @classmethod
    def fit(
        cls, table: OwnRunsTable, prediction: Prediction, components: VarianceComponents
    ) -> Self:
        """Compare runs with their predictions; a small matrix is inverted, nothing fitted anew.

        Parameters
        ----------
        table : OwnRunsTable
            The runs.
        prediction : Prediction
            Of its jobs, without own runs.
        components : VarianceComponents
            Of the model that predicts.
        """
        every = Labels.of(table.jobs)
        _, first, job, counts = np.unique(
            every.groups(), return_index=True, return_inverse=True, return_counts=True
        )
        labels = every.take(first)
        latent = _mean(_latent(prediction.log_sigma, components), job)
        error = _mean(np.log(table.step_s / prediction.step_s), job)
        covariance = components.correlation(labels, labels) * np.outer(latent, latent)
        repeats = np.diag(components.repeat_sigma**2 / counts)
        inverse = np.asarray(np.linalg.inv(covariance + repeats), dtype=float)
        return cls(
            runs=_account(table, prediction),
            labels=labels,
            job_of_run=job,
            counts=counts,
            latent=latent,
            pull=inverse @ error,
            inverse=inverse,
            stack_code=_most_frequent(table.jobs.stack_code),
            components=components,
        )

    def on_own_stack(self, jobs: Jobs) -> Jobs:
        """Return the jobs as they will run under the software stack of the user."""
        if self.stack_code is None:
            return jobs
        return replace(jobs, stack_code=np.full(len(jobs), self.stack_code))

    def apply(self, jobs: Jobs, prediction: Prediction) -> Prediction:
        """Return the prediction of `jobs` moved towards the runs, with the interval that leaves.

        The interval is never narrower than repeats of one job are apart.
        """
        if not len(self.labels):
            return prediction
        labels = Labels.of(jobs)
        latent = _latent(prediction.log_sigma, self.components)
        shift, known = np.zeros(len(jobs)), np.zeros(len(jobs))
        for start in range(0, len(jobs), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            shared = self.components.correlation(labels.take(rows), self.labels)
            shared *= latent[rows, None] * self.latent
            shift[rows] = shared @ self.pull
            known[rows] = np.sum((shared @ self.inverse) * shared, axis=1)
        left = np.sqrt(np.maximum(1 - known / prediction.log_sigma**2, 0.0))
        factor = np.exp(shift)
        return replace(
            prediction,
            parts=prediction.parts.times(factor),
            correction=prediction.correction * factor,
            log_sigma=prediction.log_sigma * left,
            log_half_width=prediction.log_half_width * left,
        )

    def likeness(self, job: Jobs) -> tuple[Likeness, int]:
        """Return what the runs nearest to one job share with it, and how many they are."""
        rank = self._rank(job)
        if not len(rank):
            return LIKENESSES[0], 0
        nearest = int(rank.max())
        return LIKENESSES[nearest], int(self.counts[rank == nearest].sum())

    def shares(self, job: Jobs, prediction: Prediction) -> list[tuple[OwnRun, Likeness, float]]:
        """Return every run, what it shares with one job, and the factor by which it moves it.

        The factors multiply to that of `apply`.

        Parameters
        ----------
        job : Jobs
            One row, under the software stack of the user.
        prediction : Prediction
            Of it, without own runs.
        """
        if not len(self.labels):
            return []
        shared = self.components.correlation(Labels.of(job), self.labels)[0]
        shared *= _latent(prediction.log_sigma, self.components)[0] * self.latent
        weight = (shared @ self.inverse / self.counts)[self.job_of_run]
        words = [LIKENESSES[rank] for rank in self._rank(job)[self.job_of_run].tolist()]
        factors = [(run.measured_s / run.predicted_s) ** power
                   for run, power in zip(self.runs.used, weight.tolist(), strict=True)]  # fmt: skip
        return list(zip(self.runs.used, words, factors, strict=True))

    def _rank(self, job: Jobs) -> np.ndarray:
        """Return how much every job that was run shares with one, as an index of `LIKENESSES`."""
        rank = np.zeros(len(self.labels), dtype=int)
        for level, same in enumerate(alike(Labels.of(job), self.labels), start=1):
            rank = np.where(same[0] > 0, level, rank)
        return rank


def error_covariance(
    jobs: Jobs,
    log_sigma: FloatArray,
    components: VarianceComponents,
    calibration: Calibration | None = None,
) -> FloatArray:
    """Return how the errors of predictions go together, shape (jobs, jobs).

    Of the logarithms, without what differs when a job is repeated; own runs take away what they
    tell of them.

    Parameters
    ----------
    jobs : Jobs
        Under the software stack of the user, if own runs calibrate.
    log_sigma : array, shape (jobs,)
        Spread of the logarithm of their predictions, without own runs.
    components : VarianceComponents
        Of the model that predicts.
    calibration : Calibration, optional
        The own runs.
    """
    labels = Labels.of(jobs)
    latent = _latent(log_sigma, components)
    covariance = components.correlation(labels, labels) * np.outer(latent, latent)
    if calibration is not None and len(calibration.labels):
        shared = components.correlation(labels, calibration.labels)
        shared *= np.outer(latent, calibration.latent)
        covariance -= shared @ calibration.inverse @ shared.T
    return covariance


def _latent(log_sigma: FloatArray, components: VarianceComponents) -> FloatArray:
    """Return the spread without that of repeats, which no other run tells anything of."""
    return np.asarray(np.sqrt(np.maximum(log_sigma**2 - components.repeat_sigma**2, 0.0)))


def _mean(values: FloatArray, group: np.ndarray) -> FloatArray:
    return np.bincount(group, values) / np.bincount(group)


def _most_frequent(codes: FloatArray) -> float | None:
    found, counts = np.unique(codes, return_counts=True)
    return float(found[np.argmax(counts)]) if len(found) else None


def _account(table: OwnRunsTable, prediction: Prediction) -> OwnRuns:
    batches, steps = table.jobs.global_batch.tolist(), prediction.step_s.tolist()
    used = (
        OwnRun(
            model=run.model,
            accelerator=run.accelerator,
            accelerators=run.accelerators,
            global_batch=batch,
            measured_s=run.step_time_s,
            predicted_s=step_s,
            source=run.provenance.source,
        )
        for run, batch, step_s in zip(table.profiles, batches, steps, strict=True)
    )
    unused = (UnusedRun(name=run.model, reason=reason) for run, reason in table.unused)
    return OwnRuns(used=tuple(used), unused=tuple(unused))
