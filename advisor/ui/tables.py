"""The table of the front and its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.advice.interruptions import chance_of, interruptions_of
from advisor.advice.plans import plan_keys
from advisor.core.units import hours, interval, number, round_significant
from advisor.search.finish import deadline_probability
from advisor.ui.charts.cost_time import pick_labels
from advisor.ui.theme import MARKET_MARKS, MARKET_TITLES

if TYPE_CHECKING:
    from advisor.advice import Result
    from advisor.search.search import Evaluated

MOST_ROWS: Final = 40
# A plan this much dearer than the front at its time is a neighbour.
NEIGHBOUR: Final = 1.25
BASES: Final = ("seen", "new scale", "new model", "new accelerator")


def front_table(evaluated: Evaluated, result: Result, deadline_h: float | None) -> pd.DataFrame:
    """Return the front, the picks and the nearest other plans, one row each, cheapest first.

    Returns
    -------
    DataFrame
        Plain columns with units in the names; the index holds the plans' keys, ``family`` the
        accelerator family.
    """
    rows = front_and_neighbours(evaluated.plans, result)
    table = evaluated.plans.iloc[rows]
    labels = pick_labels(result.picks)
    shown = pd.DataFrame(
        {
            "Pick": [labels.get(int(row), "") for row in rows],
            "": [MARKET_MARKS[str(market)] for market in table["market"]],
            "Machines": table["machines"].astype(str) + " × " + table["instance_type"].astype(str),
            "Cost, USD": [round_significant(value) for value in table["cost_usd"]],
            "Cost, 90 %": _bounds(table, "cost_low_usd", "cost_high_usd"),
            "Time, h": table["hours"].to_numpy(),
            "Time, 90 %": _bounds(table, "hours_low", "hours_high", "hours"),
            "Interrupted": [
                chance_of(interruptions_of(table.iloc[place])) for place in range(len(table))
            ],
            "Market": [MARKET_TITLES[str(market)] for market in table["market"]],
            "Region": table["region"].astype(str).to_numpy(),
            "Accelerators": table["accelerators_total"].map("{:g} × ".format)
            + table["accelerator"].astype(str),
            "family": table["family"].astype(str).to_numpy(),
        }
    )
    if deadline_h is not None:
        chance = deadline_probability(table, deadline_h) * 100
        # What is known of a bound is the most that it can be.
        chance = np.where(is_bound(table), np.nan, np.minimum(chance, 99.9))
        shown.insert(7, f"In {hours(deadline_h)} h, %", chance)
    shown.index = pd.Index(plan_keys(table))
    return shown


def front_and_neighbours(plans: pd.DataFrame, result: Result) -> np.ndarray:
    """Return rows of the front, the picks and the plans just above the front, by cost."""
    hour, cost = plans["hours"].to_numpy(), plans["cost_usd"].to_numpy()
    front = result.front
    position = np.searchsorted(hour[front], hour[result.rows], side="right") - 1
    excess = cost[result.rows] / cost[front][np.clip(position, 0, None)]
    near = result.rows[np.argsort(excess, kind="stable")]
    near = near[np.sort(excess, kind="stable") <= NEIGHBOUR]
    must = list(dict.fromkeys([*front.tolist(), *result.picks.values()]))
    seen = set(must)
    extra = [row for row in near.tolist() if row not in seen]
    rows = np.array((must + extra)[: max(MOST_ROWS, len(must))])
    return rows[np.argsort(cost[rows], kind="stable")]


def is_bound(table: pd.DataFrame) -> np.ndarray:
    """Return which plans' hours and bills are bounds: nothing is known of their interruptions."""
    unknown = (table["interruption_basis"] != "") & table["untouched"].isna()
    return unknown.to_numpy(bool)


def _bounds(table: pd.DataFrame, low: str, high: str, like: str | None = None) -> list[str]:
    """Return the interval of every plan; of a bound its lower end, above which nothing is told."""
    bound = is_bound(table)
    if like is None:
        pairs = zip(table[low], table[high], bound, strict=True)
        return [
            f"≥ {number(a)}" if only else interval(number(a), number(b)) for a, b, only in pairs
        ]
    rows = zip(table[low], table[high], table[like], bound, strict=True)
    return [
        f"≥ {hours(a, like=v)}" if only else interval(hours(a, like=v), hours(b, like=v))
        for a, b, v, only in rows
    ]
