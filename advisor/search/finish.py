"""When plans finish: hours at a chance, and the chance of hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    import pandas as pd

    from advisor.predictor.arrays import FloatArray

# Beyond so many standard deviations a chance is 0 or 1; the bisection ends at rounding errors.
FARTHEST: Final = 40.0
HALVINGS: Final = 60


def hours_at_deviation(plans: pd.DataFrame, deviation: FloatArray | float) -> FloatArray:
    """Return the hours of plans that go so many standard deviations worse than the median.

    Work and start are log-normal and taken to be slow together, which errs on the wide side.

    Parameters
    ----------
    plans : DataFrame
        Columns training_h, log_sigma, startup_h and startup_log_sigma.
    deviation : array that broadcasts to (n,)
        Standard deviations.
    """
    work, start = (
        plans[hours].to_numpy(float) * np.exp(deviation * plans[sigma].to_numpy(float))
        for hours, sigma in (("training_h", "log_sigma"), ("startup_h", "startup_log_sigma"))
    )
    return np.asarray(work + start)


def hours_at_chance(plans: pd.DataFrame, chance: float) -> FloatArray:
    """Return the hours within which each plan finishes with the given chance."""
    return hours_at_deviation(plans, float(np.clip(ndtri(chance), -FARTHEST, FARTHEST)))


def deadline_probability(plans: pd.DataFrame, deadline_h: float) -> FloatArray:
    """Return the chance that each plan finishes within the deadline."""
    low, high = np.full(len(plans), -FARTHEST), np.full(len(plans), FARTHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        met = hours_at_deviation(plans, middle) <= deadline_h
        low, high = np.where(met, middle, low), np.where(met, high, middle)
    return np.asarray(ndtr(low))
