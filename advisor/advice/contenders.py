"""The plans that could turn out cheapest, and how the errors of their predictions go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.calibration import error_covariance
from advisor.search.startup import P90

if TYPE_CHECKING:
    import pandas as pd

    from advisor.advice.engine import Engine
    from advisor.predictor.arrays import FloatArray
    from advisor.search.search import Evaluated

MOST: Final = 64


def contender_rows(plans: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """Return the rows that could turn out cheapest, each machine shape and count at its price."""
    table = plans.iloc[rows]
    cost = table["cost_usd"].to_numpy()
    # The bill that one in ten would be below.
    hopeful = cost * np.exp(-P90 * table["log_sigma"].to_numpy())
    order = np.argsort(cost, kind="stable")
    _, first = np.unique(table["entry"].to_numpy()[order], return_index=True)
    cheapest = order[first]
    return rows[cheapest[np.argsort(hopeful[cheapest], kind="stable")[:MOST]]]


def entry_covariance(evaluated: Evaluated, entries: np.ndarray, engine: Engine) -> FloatArray:
    """Return how the errors of predictions go together, given the own runs, if any."""
    model, calibration = engine.predictor.model, engine.predictor.calibration
    jobs = evaluated.best.jobs.take(entries)
    if calibration is None:
        prediction = evaluated.best.prediction.take(entries)
    else:
        jobs = calibration.on_own_stack(jobs)
        prediction = model.predict(jobs)
    return error_covariance(jobs, prediction.log_sigma, model.components, calibration)
