"""How far to relax limits that leave no plan: one at a time, or as few together as it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.search.conflicts import smallest_violations
from advisor.search.constraints import NO_COMMITMENT, Constraints, apply, filter_masks
from advisor.search.facts import carbon_kg
from advisor.search.finish import hours_at_chance
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

# Of the ways that change several limits at once.
MOST_JOINT_WAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One way to make the job feasible: the changed limits, the cheapest plan then, how many."""

    names: tuple[str, ...]
    limits: Constraints
    plan: int
    plans: int


def relaxations(plans: pd.DataFrame, limits: Constraints) -> list[Relaxation]:
    """Return the smallest changes of the limits that make a plan feasible, cheapest first.

    Each set limit is relaxed alone (a number to the nearest value that admits a plan, rounded to
    two digits; others are left out, but markets that bind for years stay out), and deadline and
    budget together a little. Where none is enough alone, the fewest limits that are enough together
    are relaxed. A plan whose finish is known is meant wherever there is one: what a lower bound
    meets, the plan may miss.
    """
    masks = dict(filter_masks(plans, limits))
    found = []
    for name in limits.given():
        rows = surest_known(plans, np.flatnonzero(_all_but(masks, (name,), len(plans))))
        if len(rows):
            found.append(_with_cheapest(plans, _relaxed(plans, limits, name, rows), (name,)))
    found.append(_both_a_little(plans, limits, masks))
    if not any(found):
        found = _joint(plans, limits)
    cost = plans["cost_usd"].to_numpy()
    return sorted((way for way in found if way), key=lambda way: float(cost[way.plan]))


def _all_but(masks: dict[str, np.ndarray], left_out: tuple[str, ...], count: int) -> np.ndarray:
    others = np.ones(count, dtype=bool)
    for other, mask in masks.items():
        if other not in left_out:
            others &= mask
    return others


def _relaxed(plans: pd.DataFrame, limits: Constraints, name: str, rows: np.ndarray) -> Constraints:
    """Return the limits with one of them relaxed as little as admits one of the rows."""
    if name == "markets":
        return replace(limits, markets=NO_COMMITMENT | (limits.markets or frozenset()))
    if name not in NEEDED:
        return limits.without(name)
    needed = NEEDED[name](plans, limits)[rows]
    if not 0 < needed.min() < np.inf:  # nothing is known of them, or no number is low enough
        return limits.without(name)
    value: float
    if name == "least_memory_gb":
        value = _round_down(float(needed.max()))
    else:
        value = int(needed.min()) if name == "most_machines" else _round_up(float(needed.min()))
    return replace(limits, **{name: value})  # type: ignore[arg-type]  # as the limit's type


# What a limit must be for a plan, one number per row.
NEEDED: Final[dict[str, Callable[[pd.DataFrame, Constraints], np.ndarray]]] = {
    "deadline_h": lambda plans, limits: hours_at_chance(plans, limits.chance),
    "budget_usd": lambda plans, _: plans["cost_usd"].to_numpy(),
    "most_machines": lambda plans, _: plans["machines"].to_numpy(),
    "least_memory_gb": lambda plans, _: plans["device_memory_gb"].to_numpy(),
    "spot_usd_per_accelerator_h": lambda plans, _: (
        plans["usd_per_h"] / plans["accelerators"]
    ).to_numpy(),
    "most_carbon_kg": lambda plans, _: np.nan_to_num(carbon_kg(plans), nan=np.inf),
    "most_usd_per_h": lambda plans, _: (plans["machines"] * plans["usd_per_h"]).to_numpy(),
}


def _joint(plans: pd.DataFrame, limits: Constraints) -> list[Relaxation | None]:
    """Return ways that relax several limits at once, the fewest first."""
    ways: list[Relaxation | None] = []
    for names, broken in smallest_violations(plans, limits)[:MOST_JOINT_WAYS]:
        rows = surest_known(plans, broken)
        nearest = rows[[int(np.argmin(_excess(plans, limits, names, rows)))]]
        relaxed = limits
        for name in names:
            relaxed = _relaxed(plans, relaxed, name, nearest)
        ways.append(_with_cheapest(plans, relaxed, names))
    return ways


def _excess(
    plans: pd.DataFrame, limits: Constraints, names: tuple[str, ...], rows: np.ndarray
) -> np.ndarray:
    """Return by how much plans break the limits that are numbers, as a product of ratios."""
    excess = np.ones(len(rows))
    for name in names:
        if name in NEEDED:
            ratio = NEEDED[name](plans, limits)[rows] / getattr(limits, name)
            excess *= 1 / ratio if name == "least_memory_gb" else ratio
    return excess


def _both_a_little(
    plans: pd.DataFrame, limits: Constraints, masks: dict[str, np.ndarray]
) -> Relaxation | None:
    if limits.deadline_h is None or limits.budget_usd is None:
        return None
    others = _all_but(masks, ("deadline_h", "budget_usd"), len(plans))
    rows = surest_known(plans, np.flatnonzero(others))
    if not len(rows):
        return None
    hours = hours_at_chance(plans, limits.chance)[rows]
    costs = plans["cost_usd"].to_numpy()[rows]
    late = np.maximum(hours / limits.deadline_h, 1)
    dear = np.maximum(costs / limits.budget_usd, 1)
    best = int(np.argmin(late * dear + np.maximum(late, dear)))
    relaxed = replace(
        limits,
        deadline_h=max(limits.deadline_h, _round_up(float(hours[best]))),
        budget_usd=max(limits.budget_usd, _round_up(float(costs[best]))),
    )
    changed = relaxed.deadline_h != limits.deadline_h and relaxed.budget_usd != limits.budget_usd
    return _with_cheapest(plans, relaxed, ("deadline_h", "budget_usd")) if changed else None


def _with_cheapest(
    plans: pd.DataFrame, limits: Constraints, names: tuple[str, ...]
) -> Relaxation | None:
    mask, _ = apply(plans, limits)
    rows = np.flatnonzero(mask)
    if not len(rows):
        return None
    known = surest_known(plans, rows)
    cheapest = known[np.argmin(plans["cost_usd"].to_numpy()[known])]
    return Relaxation(names=names, limits=limits, plan=int(cheapest), plans=len(rows))


def _round_up(value: float) -> float:
    """Round up to two significant digits, so that the suggestion is a number people say.

    >>> _round_up(71.2), _round_up(72.0), _round_up(1234.5), _round_up(0.0301)
    (72.0, 72.0, 1300.0, 0.031)
    """
    digits = 1 - math.floor(math.log10(value))
    steps = math.floor(value * 10.0**digits)
    while (rounded := round(steps / 10.0**digits, max(digits, 0))) < value:
        steps += 1
    return rounded


def _round_down(value: float) -> float:
    """Round down to two significant digits.

    >>> _round_down(85.9), _round_down(24.0)
    (85.0, 24.0)
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / step * (1 + 1e-12)) * step
