"""Predictions of runs by fits that have not seen their group, and the spread beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from joblib import Parallel, delayed

from advisor.predictor.calibration import error_covariance
from advisor.predictor.held_out import folds
from advisor.predictor.model import StepTimeModel
from advisor.predictor.point import PointModel
from benchmarks.boards.scoring import HeldOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.components import VarianceComponents
    from advisor.predictor.jobs import Jobs
    from advisor.predictor.training import TrainingTable

SPREAD_FOLDS: Final = 5
QUICK_SPREAD_FOLDS: Final = 2
QUICK_THINGS: Final = 12


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Predictions of runs that were left out, one row per run of ``rows``.

    Attributes
    ----------
    rows : array of int, shape (n,)
        Which runs of the table they are of, ascending.
    measured, predicted : array, shape (n,)
        Steps [s].
    log_sigma : array, shape (n,)
        Spread of the logarithm.
    difficulty : array of int, shape (n,)
        What of the run the fit had seen.
    fold : array of int, shape (n,)
        The fit, one of ``components``, that the spread is of.
    components : tuple of VarianceComponents
        What makes errors alike, as the fits have it.
    """

    rows: np.ndarray
    measured: FloatArray
    predicted: FloatArray
    log_sigma: FloatArray
    difficulty: np.ndarray
    fold: np.ndarray
    components: tuple[VarianceComponents, ...]

    @property
    def held(self) -> HeldOut:
        """For the score."""
        return HeldOut(self.measured, self.predicted, self.log_sigma)

    def take(self, kept: np.ndarray) -> LeftOut:
        """Return the given rows."""
        return LeftOut(self.rows[kept], self.measured[kept], self.predicted[kept],
                       self.log_sigma[kept], self.difficulty[kept], self.fold[kept],
                       self.components)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a model with its interval says of runs that it has not seen."""

    step_s: FloatArray
    log_sigma: FloatArray
    difficulty: np.ndarray
    components: VarianceComponents


def leave_each_out(
    table: TrainingTable,
    labels: np.ndarray,
    things: np.ndarray,
    tested: Sequence[str],
    *,
    quick: bool = False,
    number: int = SPREAD_FOLDS,
) -> LeftOut:
    """Predict every tested group from all that is not of its thing.

    The point comes from leaving exactly one thing out; the spread from a model that is fitted,
    with its interval, without a share of the things (the interval's own calibration needs sixteen
    fits, too many to repeat for every single group).

    Parameters
    ----------
    labels, things : array of str, shape (n,)
        Name of each run's group as its source spells it, and what that names.
    tested : sequence of str
        The labels to predict.
    quick : bool
        Whether a few things will do.
    number : int
        Into how many shares the things are dealt for the spread.
    """
    asked = np.isin(labels, tested)
    if quick:
        asked &= np.isin(things, _some(np.unique(things[asked])))
    alone = [things == thing for thing in np.unique(things[asked])]
    dealt = folds(things[asked], min(number, QUICK_SPREAD_FOLDS) if quick else number)
    together = [np.isin(things, things[asked][fold]) for fold in dealt if fold.any()]
    # Whole processes: the fits hold the interpreter's lock most of the time. The long ones first.
    tasks = [delayed(model_without)(table, held) for held in together]
    tasks += [delayed(_point_without)(table, held) for held in alone]
    found = Parallel(n_jobs=-1)(tasks)
    left = _gathered(table, together, found[: len(together)])
    predicted = np.full(len(labels), np.nan)
    for held, step_s in zip(alone, found[len(together) :], strict=True):
        predicted[held] = step_s
    left = LeftOut(left.rows, left.measured, predicted[left.rows], left.log_sigma,
                   left.difficulty, left.fold, left.components)  # fmt: skip
    return left.take(asked[left.rows])


def leave_sets_out(parts: Sequence[tuple[TrainingTable, Sequence[np.ndarray]]]) -> list[LeftOut]:
    """Predict every set of runs from all others of its table.

    Parameters
    ----------
    parts : sequence of (TrainingTable, masks)
        Tables, each with the sets to leave out, which do not overlap.
    """
    tasks = [delayed(model_without)(table, held) for table, masks in parts for held in masks]
    found = iter(Parallel(n_jobs=-1)(tasks))
    return [_gathered(table, masks, [next(found) for _ in masks]) for table, masks in parts]


def with_own_runs(jobs: Jobs, left: LeftOut, known: int) -> tuple[FloatArray, FloatArray]:
    """Return steps [s] and spreads of the logarithm of all jobs but the first `known`.

    Of the known ones the measured steps are given. As the product calibrates: the same as
    `advisor.predictor.calibration.Calibration`, for which a run is a profile of a user's store.

    Parameters
    ----------
    jobs : Jobs
        One row per row of `left`.
    left : LeftOut
        Predictions by fits that have not seen these runs.
    known : int
        How many of the first rows are given.
    """
    components = left.components[int(left.fold[-1])]
    covariance = error_covariance(jobs, left.log_sigma, components)
    noise = components.repeat_sigma**2
    own = covariance[:known, :known] + noise * np.eye(known)
    pull = np.linalg.solve(own, covariance[:known, known:])
    error = np.log(left.measured[:known] / left.predicted[:known])
    taken = np.sum(pull * covariance[:known, known:], axis=0)
    variance = np.maximum(left.log_sigma[known:] ** 2 - taken, noise)
    return left.predicted[known:] * np.exp(pull.T @ error), np.sqrt(variance)


def model_without(table: TrainingTable, held: np.ndarray) -> Fitted:
    """Return what a model that is fitted without the runs of a mask says of them."""
    known = table.take(~held)
    model = StepTimeModel.fit(known.jobs, known.step_s, known.config, known.source)
    prediction = model.predict(table.jobs.take(held))
    return Fitted(prediction.step_s, prediction.log_sigma, prediction.difficulty, model.components)


def _point_without(table: TrainingTable, held: np.ndarray) -> FloatArray:
    model = PointModel.fit(table.jobs.take(~held), table.step_s[~held])
    return model.predict(table.jobs.take(held))[0].total_s


def _gathered(
    table: TrainingTable, masks: Sequence[np.ndarray], found: Sequence[Fitted]
) -> LeftOut:
    where = [np.flatnonzero(held) for held in masks]
    rows = np.concatenate(where)
    order = np.argsort(rows)
    rows = rows[order]
    fold = np.repeat(np.arange(len(where)), [len(some) for some in where])
    return LeftOut(
        rows=rows,
        measured=table.step_s[rows],
        predicted=np.concatenate([one.step_s for one in found])[order],
        log_sigma=np.concatenate([one.log_sigma for one in found])[order],
        difficulty=np.concatenate([one.difficulty for one in found])[order],
        fold=fold[order],
        components=tuple(one.components for one in found),
    )


def _some(names: np.ndarray) -> np.ndarray:
    """Return a few names, evenly over all."""
    return names[:: -(-len(names) // QUICK_THINGS)]
