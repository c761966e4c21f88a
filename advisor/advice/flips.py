"""What would flip the choice: how far price, step time, deadline and chance are from doing so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.core.units import NBSP, duration, hours, percent, usd
from advisor.search.finish import deadline_probability, hours_at_chance
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    import pandas as pd

    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated


@dataclass(frozen=True, slots=True)
class Flip:
    """A change of one quantity, its present value, and the row that is cheapest then.

    ``row`` is None where nothing would be left.
    """

    change: str
    now: str
    row: int | None


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
    found = [_price(plans, rows, row), _step(evaluated, rows, row)]
    cost = plans["cost_usd"].to_numpy()
    # A sooner deadline makes no plan the cheapest that a cheaper one beats today.
    if limits.deadline_h is not None and cost[row] <= cost[rows].min():
        found += _deadline(plans, rows, row, limits)
    return [flip for flip in found if flip is not None]


def _cheapest_other(plans: pd.DataFrame, rows: np.ndarray, different: np.ndarray) -> int | None:
    others = rows[different]
    if not len(others):
        return None
    return int(others[np.argmin(plans["cost_usd"].to_numpy()[others])])


def _price(plans: pd.DataFrame, rows: np.ndarray, row: int) -> Flip | None:
    plan = plans.iloc[row]
    other = _cheapest_other(plans, rows, plans["offer"].to_numpy()[rows] != plan["offer"])
    if other is None:
        return None
    stored = plan["cost_usd"] - plan["usd_per_h"] * plan["machines"] * plan["hours"]
    target = plans["cost_usd"].to_numpy()[other] - stored
    limit = plan["usd_per_h"] * target / (plan["cost_usd"] - stored)
    now = f"now {usd(plan['usd_per_h'])}/h"
    if plan["cost_usd"] <= plans["cost_usd"].to_numpy()[other]:
        return Flip(f"Price above {usd(limit)}/h", now, other)
    return Flip(f"Price below {usd(limit)}/h", now, row) if limit > 0 else None


def _step(evaluated: Evaluated, rows: np.ndarray, row: int) -> Flip | None:
    plans = evaluated.plans
    plan = plans.iloc[row]
    other = _cheapest_other(plans, rows, plans["entry"].to_numpy()[rows] != plan["entry"])
    if other is None:
        return None
    work = plan["usd_per_h"] * plan["machines"] * plan["training_h"]
    factor = 1 + (plans["cost_usd"].to_numpy()[other] - plan["cost_usd"]) / work
    step_s = float(evaluated.best.prediction.step_s[int(plan["entry"])])
    now = f"now {duration(step_s)}"
    if factor >= 1:
        return Flip(f"Step above {duration(step_s * factor)}", now, other)
    return Flip(f"Step below {duration(step_s * factor)}", now, row) if factor > 0 else None


def _deadline(
    plans: pd.DataFrame, rows: np.ndarray, row: int, limits: Constraints
) -> list[Flip | None]:
    needed = hours_at_chance(plans, limits.chance)
    own = float(needed[row])
    sooner = _cheapest_other(plans, rows, needed[rows] < own)
    chance = float(deadline_probability(plans.iloc[[row]], limits.deadline_h or 0.0)[0])
    found: list[Flip | None] = [
        Flip(
            f"Deadline below {hours(own)}{NBSP}h", f"now {hours(limits.deadline_h)}{NBSP}h", sooner
        )
    ]
    if chance < 0.99:
        all_chances = deadline_probability(plans.iloc[rows], limits.deadline_h or 0.0)
        surer = _cheapest_other(plans, rows, all_chances > chance)
        found.append(
            Flip(f"Chance above {percent(chance)}", f"now {percent(limits.chance)}", surer)
        )
    return found
