"""When plans finish: hours at a chance, and the chance of hours.

Where interruptions are known, the law of the finish counts them; it approximates, and a plan is
never surer than without any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr, ndtri

from advisor.core.units import HOUR_S
from advisor.search.interruptions import known_rows, law_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from advisor.predictor.arrays import FloatArray, Floats

# Beyond so many standard deviations a chance is 0 or 1; the bisection ends at rounding errors.
FARTHEST: Final = 40.0
HALVINGS: Final = 60


def hours_at_chance(plans: pd.DataFrame, chance: Floats) -> FloatArray:
    """Return the hours within which each plan finishes with the given chance.

    Parameters
    ----------
    plans : DataFrame
        Columns training_h, log_sigma, startup_h and startup_log_sigma, and those of
        `advisor.search.interruptions`.
    chance : float or array of shape (n,); of shape (k,) for one plan
    """
    found = _undisturbed(plans)(np.clip(ndtri(chance), -FARTHEST, FARTHEST))
    rows = known_rows(plans)
    if len(rows):
        level = np.broadcast_to(chance, found.shape)
        law = law_of(plans, rows)
        if len(plans) == 1:
            return np.maximum(found, law.quantile(level) / HOUR_S)
        found[rows] = np.maximum(found[rows], law.quantile(level[rows]) / HOUR_S)
    return found


def deadline_probability(plans: pd.DataFrame, deadline_h: float) -> FloatArray:
    """Return the chance that each plan finishes within the deadline."""
    hours = _undisturbed(plans)
    low, high = np.full(len(plans), -FARTHEST), np.full(len(plans), FARTHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        met = hours(middle) <= deadline_h
        low, high = np.where(met, middle, low), np.where(met, high, middle)
    chance = np.asarray(ndtr(low))
    rows = known_rows(plans)
    if len(rows):
        reached = law_of(plans, rows).share_below(deadline_h * HOUR_S)
        chance[rows] = np.minimum(chance[rows], reached)
    return chance


def meets_deadline(plans: pd.DataFrame, deadline_h: float, chance: float) -> np.ndarray:
    """Return which plans finish within the deadline with the given chance at least."""
    met = _undisturbed(plans)(np.clip(ndtri(chance), -FARTHEST, FARTHEST)) <= deadline_h
    rows = known_rows(plans)
    if len(rows):
        met[rows] &= law_of(plans, rows).share_below(deadline_h * HOUR_S) >= chance
    return met


def _undisturbed(plans: pd.DataFrame) -> Callable[[Floats], FloatArray]:
    """Return the hours of plans that go so many standard deviations worse than the median.

    Work and start are log-normal and taken to be slow together, which errs on the wide side.
    """
    names = ("training_h", "log_sigma", "startup_h", "startup_log_sigma")
    work_h, work_sigma, start_h, start_sigma = (plans[name].to_numpy(float) for name in names)

    def hours(deviation: Floats) -> FloatArray:
        work = work_h * np.exp(deviation * work_sigma)
        return np.asarray(work + start_h * np.exp(deviation * start_sigma))

    return hours
