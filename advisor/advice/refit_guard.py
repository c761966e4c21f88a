"""Whether a refit predicts worse than the predictor in use: both on groups held out whole."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from pydantic import Field

from advisor.domain.base import Noun
from advisor.predictor.difficulty import model_keys
from advisor.predictor.point import PointModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.training import TrainingTable

FOLDS: Final = 3
# How much worse a score may get: a share of what it was, and points of per cent. A fit on a few
# runs more differs that much by chance; own runs are few, so that one of them moves their score.
TOLERANCE: Final = {"shipped": (0.02, 0.1), "own": (0.05, 1.0)}
HeldOut = Literal["configurations", "models"]
Whose = Literal["shipped", "own"]


class Score(Noun):
    """Errors of held-out predictions before and after a refit, of the same runs [%].

    ``median`` is the median absolute error, ``mean`` the geometric mean of the factor by which
    predictions are off, less one.
    """

    held_out: HeldOut
    whose: Whose
    runs: int = Field(ge=1)
    median_before: float = Field(ge=0)
    median_after: float = Field(ge=0)
    mean_before: float = Field(ge=0)
    mean_after: float = Field(ge=0)

    @property
    def holds(self) -> bool:
        """Whether neither error grew by more than the tolerance."""
        share, points = TOLERANCE[self.whose]
        return all(
            after <= before * (1 + share) + points
            for before, after in (
                (self.median_before, self.median_after),
                (self.mean_before, self.mean_after),
            )
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """Runs of which the predictor in use knows some, and a refit would know some.

    Attributes
    ----------
    table : TrainingTable
        All of them.
    own : array of bool, shape (n,)
        The user's.
    before, after : array of bool, shape (n,)
        Those that the predictor in use learnt, and those that the refit would.
    """

    table: TrainingTable
    own: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def changes_nothing(self) -> bool:
        """Whether both would learn the same."""
        return bool((self.before == self.after).all())


def held_out_scores(trial: Trial) -> tuple[Score, ...]:
    """Score both fits on configurations and on models that neither has seen.

    A group is always in the same one of `FOLDS` folds, whatever else is in the store, so that a
    later refit is asked the same questions.
    """
    groups: dict[HeldOut, np.ndarray] = {
        "configurations": trial.table.config,
        "models": np.array(["|".join(f"{v:.6g}" for v in k) for k in model_keys(trial.table.jobs)]),
    }
    return tuple(
        score
        for held_out, labels in groups.items()
        for score in _of_groups(trial, held_out, fold_of(labels))
    )


def fold_of(labels: np.ndarray) -> np.ndarray:
    """Return the fold of every label, by the label alone."""
    names, code = np.unique(labels, return_inverse=True)
    return np.array([zlib.crc32(str(name).encode()) % FOLDS for name in names], dtype=int)[code]


def _of_groups(trial: Trial, held_out: HeldOut, folds: np.ndarray) -> Iterator[Score]:
    residual = np.full((2, len(folds)), np.nan)
    for fold in range(FOLDS):
        held = folds == fold
        if not held.any():
            continue
        known = [mask & ~held for mask in (trial.before, trial.after)]
        residual[0, held] = _residuals(trial.table, known[0], held)
        same = (known[0] == known[1]).all()
        residual[1, held] = residual[0, held] if same else _residuals(trial.table, known[1], held)
    asked: dict[Whose, np.ndarray] = {
        "shipped": trial.before & trial.after & ~trial.own,
        "own": trial.after & trial.own,
    }
    for whose, rows in asked.items():
        if rows.any():
            (median_0, mean_0), (median_1, mean_1) = map(_errors, residual[:, rows])
            yield Score(
                held_out=held_out, whose=whose, runs=int(rows.sum()), median_before=median_0,
                median_after=median_1, mean_before=mean_0, mean_after=mean_1,
            )  # fmt: skip


def _residuals(table: TrainingTable, known: np.ndarray, held: np.ndarray) -> FloatArray:
    """Return the logarithm of measured over predicted of held-out runs."""
    fitted = PointModel.fit(table.jobs.take(known), table.step_s[known])
    predicted, _, _ = fitted.predict(table.jobs.take(held))
    return np.asarray(np.log(table.step_s[held] / predicted.total_s))


def _errors(residual: FloatArray) -> tuple[float, float]:
    """Return the median absolute error and the mean factor off [%]."""
    off = np.abs(np.expm1(-residual))
    return 100 * float(np.median(off)), 100 * float(np.expm1(np.abs(residual).mean()))
