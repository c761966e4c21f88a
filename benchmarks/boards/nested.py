"""Predictions of what was left out, with a spread that comes from the rest alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtri

from benchmarks.boards.scoring import LEVEL, HeldOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.predictor.arrays import FloatArray

HALF_WIDTH: Final = float(ndtri(0.5 + LEVEL / 2))


def leave_each_out(
    measured: FloatArray,
    labels: np.ndarray,
    predict: Callable[[np.ndarray, np.ndarray], FloatArray],
) -> HeldOut:
    """Predict every group from the others, and the spread by doing the same among the others.

    Parameters
    ----------
    measured : array of shape (n,)
        Measured quantity.
    labels : array of shape (n,)
        Group of every row.
    predict : callable
        Takes the masks of the rows to train on and to predict; returns the predictions.
    """
    predicted, sigma = np.empty(len(measured)), np.empty(len(measured))
    for name in np.unique(labels):
        held = labels == name
        predicted[held] = predict(~held, held)
        sigma[held] = conformal_sigma(_residuals(measured, labels, predict, ~held))
    return HeldOut(measured, predicted, sigma)


def conformal_sigma(residual: FloatArray) -> float:
    """Return the standard deviation whose 90 % interval is the conformal one of log residuals.

    >>> round(conformal_sigma(np.arange(1.0, 100.0)) * HALF_WIDTH, 6)
    90.0
    """
    rank = min(math.ceil(LEVEL * (len(residual) + 1)), len(residual))
    return float(np.sort(np.abs(residual))[rank - 1]) / HALF_WIDTH


def _residuals(
    measured: FloatArray,
    labels: np.ndarray,
    predict: Callable[[np.ndarray, np.ndarray], FloatArray],
    rest: np.ndarray,
) -> FloatArray:
    found = []
    for name in np.unique(labels[rest]):
        held = rest & (labels == name)
        predicted = predict(rest & ~held, held)
        found.append(np.log(measured[held] / predicted))
    return np.concatenate(found)
