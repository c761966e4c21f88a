"""Predictions of what was left out, each with a spread of its own that the rest calibrates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from joblib import Parallel, delayed

from benchmarks.boards.nested import conformal_sigma
from benchmarks.boards.scoring import HeldOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.predictor.arrays import FloatArray

    # Of the masks of the rows to train on and to predict: the parts of every predicted time,
    # shape (rows, parts), and the relative spread of their sum.
    Predict: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[FloatArray, FloatArray]]

INNER_FOLDS: Final = 5


def leave_each_out_scaled(
    measured: FloatArray, labels: np.ndarray, predict: Predict, names: np.ndarray | None = None
) -> tuple[HeldOut, FloatArray]:
    """Predict every group from the others; return the rows predicted, and the parts of all.

    Parameters
    ----------
    measured : array of shape (n,)
        Measured times.
    labels : array of shape (n,)
        Group of every row.
    predict : callable
        See `Predict`.
    names : array, optional
        The groups to hold out, by default all; the parts of other rows stay NaN.
    """
    held = np.unique(labels) if names is None else names
    found = Parallel(n_jobs=-1)(
        delayed(_held_out)(measured, labels, predict, labels == name) for name in held
    )
    predicted = np.full(len(measured), np.nan)
    sigma = predicted.copy()
    parts = np.full((len(measured), found[0][0].shape[1]), np.nan)
    for name, (part, spread) in zip(held, found, strict=True):
        parts[labels == name] = part
        predicted[labels == name], sigma[labels == name] = part.sum(axis=1), spread
    known = np.isfinite(predicted)
    return HeldOut(measured[known], predicted[known], sigma[known]), parts


def calibration(
    measured: FloatArray, labels: np.ndarray, predict: Predict, rest: np.ndarray
) -> float:
    """Return the factor by which stated spreads must grow to cover groups held out of `rest`."""
    scores = []
    for fold in inner_folds(labels[rest]):
        held = rest & np.isin(labels, fold)
        parts, spread = predict(rest & ~held, held)
        scores.append(np.log(measured[held] / parts.sum(axis=1)) / spread)
    return conformal_sigma(np.concatenate(scores))


def inner_folds(labels: np.ndarray) -> list[np.ndarray]:
    """Deal whole groups, the largest first, to so many folds.

    >>> [fold.tolist() for fold in inner_folds(np.array(["a", "b", "b"]))]
    [['b'], ['a']]
    """
    names, counts = np.unique(labels, return_counts=True)
    ordered = names[np.argsort(-counts, kind="stable")]
    return [ordered[k::INNER_FOLDS] for k in range(min(INNER_FOLDS, len(ordered)))]


def _held_out(
    measured: FloatArray, labels: np.ndarray, predict: Predict, held: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    parts, spread = predict(~held, held)
    return parts, spread * calibration(measured, labels, predict, ~held)
