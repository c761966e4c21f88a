"""Residuals of predictions for groups that were held out: what the interval is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import PredictionError
from advisor.predictor.arrays import FloatArray
from advisor.predictor.difficulty import Seen, accelerator_keys, group_of, model_keys
from advisor.predictor.jobs import Jobs
from advisor.predictor.point import PointModel

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDS: Final = 5
LARGE_SCALE_DEVICES: Final = 128


@dataclass(frozen=True, slots=True)
class Residuals:
    """Residuals of the logarithm, one row per held-out prediction.

    ``groups``, ``distance`` and ``strata`` are as in
    `advisor.predictor.interval.GroupConformal.fit`; ``rows`` is the run that was predicted and
    ``fold`` the fit that predicted it.
    """

    groups: np.ndarray
    distance: FloatArray
    residual: FloatArray
    strata: np.ndarray
    rows: np.ndarray
    fold: np.ndarray


def held_out_residuals(
    jobs: Jobs,
    step_s: FloatArray,
    config: np.ndarray,
    source: np.ndarray,
) -> Residuals:
    """Predict every run from fits that have not seen its group.

    Four ways of holding out: configurations, models, accelerators, and everything at
    `LARGE_SCALE_DEVICES` or more. The difficulty of a held-out run is what `Seen` of the rest
    says of it, exactly as later for the user's job, whichever way it was held out.

    Raises
    ------
    PredictionError
        If nothing can be held out.
    """
    parts: list[tuple[np.ndarray, ...]] = []
    for held, strata in _splits(jobs, config, _codes(source)):
        if not held.any() or held.all():
            continue
        rest, tested = jobs.take(~held), jobs.take(held)
        point = PointModel.fit(rest, step_s[~held])
        predicted, _, distance = point.predict(tested)
        groups = group_of(Seen.of(rest).difficulty(tested), tested)
        residual = np.log(step_s[held]) - np.log(predicted.total_s)
        rows = np.flatnonzero(held)
        fold = np.full(len(rows), len(parts))
        parts.append((groups, distance, residual, strata[held], rows, fold))
    if not parts:
        raise PredictionError(
            "all measured runs are of one configuration; an interval needs several.",
            todo="Add profiles of other models, accelerators or counts.",
        )
    return Residuals(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _splits(
    jobs: Jobs, config: np.ndarray, sources: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (held-out mask, strata): runs of one source, then of one held-out thing, are alike."""
    models = _codes(np.array(model_keys(jobs)))
    accelerators = _codes(np.array(accelerator_keys(jobs)))
    by_model = np.stack([sources, models], axis=1)
    for labels in (_codes(config), models):
        for held in folds(labels, FOLDS):
            yield held, by_model
    for held in folds(accelerators, FOLDS):
        yield held, np.stack([accelerators, sources], axis=1)
    yield jobs.devices >= LARGE_SCALE_DEVICES, by_model


def folds(labels: np.ndarray, number: int) -> list[np.ndarray]:
    """Split whole groups into `number` masks, dealt in a fixed shuffled order."""
    names, code = np.unique(labels, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(names)) % number
    return [order[code] == fold for fold in range(number)]


def _codes(keys: np.ndarray) -> np.ndarray:
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
