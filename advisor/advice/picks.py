"""Cheapest, Fastest, Best value, Safest: which rows, and why in one sentence with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.advice.interruptions import LOWER_BOUND
from advisor.core.units import NBSP, hours, percent, usd
from advisor.search.finish import deadline_probability
from advisor.search.interruptions import surest_known
from advisor.search.pareto import pareto_front

if TYPE_CHECKING:
    import pandas as pd

    from advisor.predictor.arrays import FloatArray
    from advisor.search.constraints import Constraints

PICKS: Final = ("cheapest", "fastest", "best_value", "safest")
# Plans whose risk is this close to the least are equally safe, and those whose time is known to
# within this of the best known are equally well known; the cheapest of them counts.
SAME_RISK: Final = 0.005
SAME_WIDTH: Final = 1.1
# The safest plan is not one at any price: what costs more than this many times the cheapest that
# cannot be interrupted does not buy safety.
SAFETY_PRICE: Final = 3.0


def pick_rows(plans: pd.DataFrame, rows: np.ndarray, limits: Constraints) -> dict[str, int]:
    """Return the table row of every pick.

    Cheapest and fastest take the median estimate; best value is the plan of the front nearest
    to the corner of the front's lowest bill and shortest time (both on logarithmic scales,
    compromise programming); safest has the least risk of missing the deadline, running out of
    memory or being interrupted, and then the narrowest interval, at a price up to `SAFETY_PRICE`.
    Plans whose interruptions nobody knows are picked only where there are no others.
    """
    rows = surest_known(plans, rows)
    cost = plans["cost_usd"].to_numpy()[rows]
    hour = plans["hours"].to_numpy()[rows]
    front = pareto_front(hour, cost)
    cheapest = int(front[-1])
    return {
        "cheapest": int(rows[cheapest]),
        "fastest": int(rows[front[0]]),
        "best_value": int(rows[front[_knee(hour[front], cost[front])]]),
        "safest": int(_safest(plans, rows, cost, limits)),
    }


def _knee(hour: FloatArray, cost: FloatArray) -> int:
    """Return the position of the front nearest to its ideal corner on logarithmic axes."""
    scaled = [_unit_range(np.log(axis)) for axis in (hour, cost)]
    return int(np.argmin(np.hypot(*scaled)))


def _unit_range(values: FloatArray) -> FloatArray:
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


def _safest(plans: pd.DataFrame, rows: np.ndarray, cost: FloatArray, limits: Constraints) -> int:
    table = plans.iloc[rows]
    late = np.zeros(len(rows))
    if limits.deadline_h is not None:
        late = 1 - deadline_probability(table, limits.deadline_h)
    # A spot machine can be taken away at any time: never as safe as one that cannot.
    interruptible = (table["market"] == "spot").to_numpy()
    risk = late + table["out_of_memory"].to_numpy() + interruptible
    if not interruptible.all():
        too_dear = cost > SAFETY_PRICE * cost[~interruptible].min()
        risk = np.where(too_dear, np.inf, risk)
    safe = np.flatnonzero(risk <= risk.min() + SAME_RISK)
    width = table["log_sigma"].to_numpy()[safe]
    known = safe[width <= SAME_WIDTH * width.min()]
    return int(rows[known[np.argmin(cost[known])]])


def reason(
    name: str, plans: pd.DataFrame, picks: dict[str, int], rows: np.ndarray, limits: Constraints
) -> str:
    """Return why the pick was picked, one or two sentences with the numbers."""
    plan, cheapest = plans.iloc[picks[name]], plans.iloc[picks["cheapest"]]
    writers = {
        "cheapest": lambda: _why_cheapest(plans, picks["cheapest"], rows),
        "fastest": lambda: _why_sooner("Finishes first", plan, cheapest),
        "best_value": lambda: _why_sooner("Best balance", plan, cheapest),
        "safest": lambda: _why_safest(plan, cheapest, limits),
    }
    unknown = plan["interruption_basis"] and np.isnan(plan["untouched"])
    return f"{writers[name]()} {LOWER_BOUND}" if unknown else writers[name]()


def _why_cheapest(plans: pd.DataFrame, best: int, rows: np.ndarray) -> str:
    plan = plans.iloc[best]
    known = surest_known(plans, rows)
    table = plans.iloc[known]
    other = table[table["instance_type"] != plan["instance_type"]]
    whose = " whose finish is known" if len(known) < len(rows) else ""
    said = f"Lowest bill of {len(known):,} plans{whose}."
    if len(known) == 1:
        said = f"The only plan left{whose}."
    if len(other):
        second = other.iloc[int(np.argmin(other["cost_usd"].to_numpy()))]
        more = second["cost_usd"] - plan["cost_usd"]
        said += f" The next machine, {second['instance_type']}, costs {usd(more)} more."
    return said + _perhaps_cheaper(plan, plans.iloc[rows])


def _perhaps_cheaper(plan: pd.Series, table: pd.DataFrame) -> str:
    """Say what may cost less, were it hardly ever interrupted, or nothing."""
    lowest = table.iloc[int(np.argmin(table["cost_usd"].to_numpy()))]
    if lowest["cost_usd"] >= plan["cost_usd"]:
        return ""
    machines = f"{lowest['machines']:,} × {lowest['instance_type']}"
    return (
        f" {machines} on spot, of whose interruptions nothing is known, costs "
        f"{usd(lowest['cost_usd'])} at least."
    )


def _why_sooner(opening: str, plan: pd.Series, cheapest: pd.Series) -> str:
    saved = cheapest["hours"] - plan["hours"]
    more = plan["cost_usd"] - cheapest["cost_usd"]
    if saved <= 0 or more <= 0:
        return f"{opening}: it is the cheapest too."
    return (
        f"{opening}: {hours(saved)}{NBSP}h sooner than the cheapest for {usd(more)} more,"
        f" {usd(more / saved)} per hour saved."
    )


def _why_safest(plan: pd.Series, cheapest: pd.Series, limits: Constraints) -> str:
    words = []
    if plan["market"] == "spot":
        words.append("Every plan left can be interrupted; this one has the least other risk.")
    else:
        words.append("Cannot be interrupted.")
    if limits.deadline_h is not None:
        chance = deadline_probability(plan.to_frame().T.infer_objects(), limits.deadline_h)[0]
        words.append(f"{percent(float(chance))} within the deadline.")
    words.append(f"95{NBSP}% sure to take less than {hours(plan['hours_high'])}{NBSP}h.")
    more = plan["cost_usd"] - cheapest["cost_usd"]
    if more > 0:
        words.append(f"{usd(more)} more than the cheapest.")
    return " ".join(words)
