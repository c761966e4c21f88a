"""The bill of a plan where one of its assumptions is another, and where that is equal to one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import brentq

from advisor.search.bill import bill_columns, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.predictor.arrays import FloatArray, Floats
    from advisor.search.search import Evaluated

# A quantity is looked at between these factors: beyond, it is another plan.
FARTHEST: Final = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Factors on what a bill is made of, shape (plans, draws) or to be broadcast to it.

    ``failed`` is whether the first attempt runs out of memory; None leaves the chance of it.
    """

    price: Floats = 1.0
    step: Floats = 1.0
    startup: Floats = 1.0
    interruptions: Floats = 1.0
    failed: Floats | None = None


def bills(evaluated: Evaluated, rows: np.ndarray, changed: Changed) -> FloatArray:
    """Return the bills [USD] of plans whose assumptions are others, shape (plans, draws).

    Interruptions grow with the work: a slower step is in danger for longer.
    """
    terms, use = rows_of(evaluated.terms, rows), rows_of(evaluated.use, rows)
    lost = changed.step * np.asarray(changed.interruptions)
    step_h = use.attempt_h - np.asarray(use.startup_h)
    startup_h = use.startup_h * np.asarray(changed.startup)
    other = replace(
        use,
        training_h=use.training_h * np.asarray(changed.step),
        startup_h=startup_h,
        interruption_h=use.interruption_h * lost,
        revocations=use.revocations * lost,
        attempt_h=startup_h + step_h * np.asarray(changed.step),
        out_of_memory=use.out_of_memory if changed.failed is None else changed.failed,
    )
    prices = replace(terms, usd_per_h=terms.usd_per_h * np.asarray(changed.price))
    return bill_columns(prices, other).total_usd


def bill_against(
    evaluated: Evaluated, row: int, change: Callable[[Floats], Changed], factors: Floats
) -> FloatArray:
    """Return the bill [USD] of one plan at each factor on one assumption."""
    found = bills(evaluated, np.array([row]), change(np.atleast_1d(factors)[None, :]))
    return np.asarray(np.broadcast_to(found, (1, np.size(factors)))[0])


def factor_for(
    evaluated: Evaluated, row: int, change: Callable[[Floats], Changed], target_usd: float
) -> float | None:
    """Return the factor on one assumption at which the bill of a plan is so much, or None.

    Found by bisection: the bill never falls as a factor grows, but billing in whole minutes or
    hours makes it a stair.
    """

    def above(log_factor: float) -> float:
        found = bill_against(evaluated, row, change, math.exp(log_factor))
        return float(found[0]) - target_usd

    low, high = -math.log(FARTHEST), math.log(FARTHEST)
    if above(low) > 0 or above(high) < 0:
        return None
    return float(math.exp(brentq(above, low, high, xtol=1e-9)))
