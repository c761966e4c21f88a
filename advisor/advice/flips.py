"""What would flip the choice: how far price, step time, deadline and chance are from doing so.

Every distance is searched for on the bill itself, with its starts, its billed minutes and its
expected failures, not on a formula for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.advice.what_if import Changed, factor_for
from advisor.core.units import NBSP, duration, hours, percent, usd
from advisor.search.constraints import apply
from advisor.search.finish import deadline_probability, hours_at_chance
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    import pandas as pd

    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated


@dataclass(frozen=True, slots=True)
class Flip:
    """A change of one quantity, its present value, and the row that is cheapest then.

    ``by`` is how far that is, ``row`` is None where nothing would be left.
    """

    change: str
    now: str
    row: int | None
    by: str = ""


def flips(evaluated: Evaluated, rows: np.ndarray, row: int, limits: Constraints) -> list[Flip]:
    """Return what would make another plan the cheapest, or this one where it is not.

    Parameters
    ----------
    rows : array of int
        Rows that satisfy the limits.
    row : int
        The plan in question.
    """
    plans = evaluated.plans
    rows = surest_known(plans, rows)  # as the picks are chosen
    found = [_price(evaluated, rows, row), _step(evaluated, rows, row)]
    cost = plans["cost_usd"].to_numpy()
    # A sooner deadline makes no plan the cheapest that a cheaper one beats today.
    if limits.deadline_h is not None and cost[row] <= cost[rows].min():
        found += _deadline(plans, rows, row, limits)
        found.append(_later(plans, row, limits))
    return [flip for flip in found if flip is not None]


def _cheapest_other(plans: pd.DataFrame, rows: np.ndarray, different: np.ndarray) -> int | None:
    others = rows[different]
    if not len(others):
        return None
    return int(others[np.argmin(plans["cost_usd"].to_numpy()[others])])


def _price(evaluated: Evaluated, rows: np.ndarray, row: int) -> Flip | None:
    plans = evaluated.plans
    plan = plans.iloc[row]
    other = _cheapest_other(plans, rows, plans["offer"].to_numpy()[rows] != plan["offer"])
    if other is None:
        return None
    target = float(plans["cost_usd"].to_numpy()[other])
    factor = factor_for(evaluated, row, lambda by: Changed(price=by), target)
    if factor is None:
        return None
    price = float(plan["usd_per_h"])
    now, by = f"now {usd(price)}/h", signed_percent(factor - 1)
    if plan["cost_usd"] <= target:
        return Flip(f"Price above {usd(price * factor)}/h", now, other, by)
    return Flip(f"Price below {usd(price * factor)}/h", now, row, by)


def _step(evaluated: Evaluated, rows: np.ndarray, row: int) -> Flip | None:
    plans = evaluated.plans
    plan = plans.iloc[row]
    other = _cheapest_other(plans, rows, plans["entry"].to_numpy()[rows] != plan["entry"])
    if other is None:
        return None
    target = float(plans["cost_usd"].to_numpy()[other])
    factor = factor_for(evaluated, row, lambda by: Changed(step=by), target)
    if factor is None:
        return None
    step_s = float(evaluated.best.prediction.step_s[int(plan["entry"])])
    # As much slower is as much less efficient: the same work in more time.
    by = f"{signed_percent(factor - 1)}, efficiency {signed_percent(1 / factor - 1)}"
    now, limit = f"now {duration(step_s)}", duration(step_s * factor)
    if plan["cost_usd"] <= target:
        return Flip(f"Step above {limit}", now, other, by)
    return Flip(f"Step below {limit}", now, row, by)


def signed_percent(share: float) -> str:
    r"""Write a change as a percentage with its sign.

    >>> signed_percent(0.123), signed_percent(-0.5), signed_percent(0.004)
    ('+12\xa0%', '−50\xa0%', '+0.4\xa0%')
    """
    size = abs(100 * share)
    digits = 0 if size >= 10 else 1
    return f"{'−' if share < 0 else '+'}{size:.{digits}f}{NBSP}%"


def _signed_hours(change_h: float, like_h: float) -> str:
    return f"{'−' if change_h < 0 else '+'}{hours(abs(change_h), like=like_h)}{NBSP}h"


def _later(plans: pd.DataFrame, row: int, limits: Constraints) -> Flip | None:
    """Return the next later deadline that lets a cheaper plan in; None where none does."""
    mask, _ = apply(plans, limits.without("deadline_h"))
    rows = surest_known(plans, np.flatnonzero(mask))
    cheaper = rows[plans["cost_usd"].to_numpy()[rows] < plans["cost_usd"].iloc[row]]
    if not len(cheaper) or limits.deadline_h is None:
        return None
    needed = hours_at_chance(plans.iloc[cheaper], limits.chance)
    first = int(np.argmin(needed))
    later = float(needed[first])
    if later <= limits.deadline_h:
        return None  # it is left out for another reason
    return Flip(
        f"Deadline above {hours(later)}{NBSP}h",
        f"now {hours(limits.deadline_h)}{NBSP}h",
        int(cheaper[first]),
        _signed_hours(later - limits.deadline_h, limits.deadline_h),
    )


def _deadline(
    plans: pd.DataFrame, rows: np.ndarray, row: int, limits: Constraints
) -> list[Flip | None]:
    needed = hours_at_chance(plans, limits.chance)
    own = float(needed[row])
    sooner = _cheapest_other(plans, rows, needed[rows] < own)
    chance = float(deadline_probability(plans.iloc[[row]], limits.deadline_h or 0.0)[0])
    found: list[Flip | None] = [
        Flip(
            f"Deadline below {hours(own)}{NBSP}h",
            f"now {hours(limits.deadline_h)}{NBSP}h",
            sooner,
            _signed_hours(own - (limits.deadline_h or 0.0), limits.deadline_h or 0.0),
        )
    ]
    if chance < 0.99:
        all_chances = deadline_probability(plans.iloc[rows], limits.deadline_h or 0.0)
        surer = _cheapest_other(plans, rows, all_chances > chance)
        found.append(
            Flip(f"Chance above {percent(chance)}", f"now {percent(limits.chance)}", surer)
        )
    return found
