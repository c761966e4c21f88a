"""Constraints: what may be recommended, counted as they remove plans, and how far to relax them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.domain import Market
from advisor.search.finish import hours_at_chance, meets_deadline
from advisor.search.interruptions import surest_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

DEFAULT_CHANCE: Final = 0.8
# A reserved price is paid for a year or three, whatever the job takes: only for those who hold it.
NO_COMMITMENT: Final[frozenset[Market]] = frozenset({"on_demand", "spot"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Limits on plans; None leaves a limit out, an empty set would leave nothing.

    ``chance`` is how sure it must be that the deadline is met; the budget is compared with the
    median bill. Reserved prices are left out unless asked for: they bind for years.
    """

    clouds: frozenset[str] | None = None
    areas: frozenset[str] | None = None
    regions: frozenset[str] | None = None
    families: frozenset[str] | None = None
    accelerators: frozenset[str] | None = None
    markets: frozenset[Market] | None = NO_COMMITMENT
    most_machines: int | None = None
    deadline_h: float | None = None
    budget_usd: float | None = None
    chance: float = DEFAULT_CHANCE

    def __post_init__(self) -> None:
        for name in ("deadline_h", "budget_usd", "most_machines"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InvalidInputError(
                    f"{value!r} is not a positive number.",
                    where=name.replace("_", " "),
                    todo="Give a number above 0, or leave it out for no limit.",
                )
        if not 0 < self.chance < 1:
            raise InvalidInputError(
                f"{self.chance!r} is not a chance.", where="chance", todo="Give 0.5 to 0.99."
            )

    def without(self, name: str) -> Constraints:
        """Return the constraints with one of them left out."""
        return replace(self, **{name: None})  # type: ignore[arg-type]  # every limit may be None

    def given(self) -> list[str]:
        """Return the names of the limits that are set."""
        return [
            f.name for f in fields(self)
            if f.name != "chance" and getattr(self, f.name) not in (None, f.default)
        ]  # fmt: skip


def filter_masks(plans: pd.DataFrame, limits: Constraints) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (constraint, mask of plans that satisfy it) in the order they are applied."""
    yield "price_not_trusted", plans["rankable"].to_numpy(bool)
    if plans["available"].notna().any():
        yield "available", ~(plans["machines"].to_numpy() > plans["available"].to_numpy())
    for name, column in (
        ("clouds", "cloud"), ("areas", "area"), ("regions", "region"), ("families", "family"),
        ("accelerators", "accelerator"), ("markets", "market"),
    ):  # fmt: skip
        wanted = getattr(limits, name)
        if wanted is not None:
            yield name, plans[column].isin(wanted).to_numpy()
    if limits.most_machines is not None:
        yield "most_machines", plans["machines"].to_numpy() <= limits.most_machines
    if limits.deadline_h is not None:
        yield "deadline_h", meets_deadline(plans, limits.deadline_h, limits.chance)
    if limits.budget_usd is not None:
        yield "budget_usd", plans["cost_usd"].to_numpy() <= limits.budget_usd


def apply(plans: pd.DataFrame, limits: Constraints) -> tuple[np.ndarray, dict[str, int]]:
    """Return the mask of plans that satisfy everything and how many each constraint removed."""
    left = np.ones(len(plans), dtype=bool)
    removed = {}
    for name, satisfied in filter_masks(plans, limits):
        removed[name] = int((left & ~satisfied).sum())
        left &= satisfied
    return left, removed


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One way to make the job feasible: the changed limits, the cheapest plan then, how many."""

    names: tuple[str, ...]
    limits: Constraints
    plan: int
    plans: int


def relaxations(plans: pd.DataFrame, limits: Constraints) -> list[Relaxation]:
    """Return the smallest changes of the limits that make a plan feasible, cheapest first.

    Each set limit is relaxed alone (to the nearest value that admits a plan, rounded up to two
    digits; sets of names are left out, but reserved markets stay out), and deadline and budget
    together a little. A plan whose finish is known is meant wherever there is one: what a lower
    bound meets, the plan may miss.
    """
    masks = dict(filter_masks(plans, limits))
    found = []
    for name in limits.given():
        others = np.ones(len(plans), dtype=bool)
        for other, mask in masks.items():
            if other != name:
                others &= mask
        relaxed = _nearest(plans, limits, name, others)
        if relaxed is not None:
            found.append(relaxed)
    both = _both_a_little(plans, limits, masks)
    found += [both] if both is not None else []
    cost = plans["cost_usd"].to_numpy()
    return sorted(found, key=lambda way: float(cost[way.plan]))


def _nearest(
    plans: pd.DataFrame, limits: Constraints, name: str, others: np.ndarray
) -> Relaxation | None:
    rows = surest_known(plans, np.flatnonzero(others))
    if not len(rows):
        return None
    if name == "deadline_h":
        needed = hours_at_chance(plans, limits.chance)
        relaxed = replace(limits, deadline_h=_round_up(float(needed[rows].min())))
    elif name == "budget_usd":
        cost = plans["cost_usd"].to_numpy()
        relaxed = replace(limits, budget_usd=_round_up(float(cost[rows].min())))
    elif name == "most_machines":
        relaxed = replace(limits, most_machines=int(plans["machines"].to_numpy()[rows].min()))
    elif name == "markets":
        relaxed = replace(limits, markets=NO_COMMITMENT | (limits.markets or frozenset()))
    else:
        relaxed = limits.without(name)
    return _with_cheapest(plans, relaxed, (name,))


def _both_a_little(
    plans: pd.DataFrame, limits: Constraints, masks: dict[str, np.ndarray]
) -> Relaxation | None:
    if limits.deadline_h is None or limits.budget_usd is None:
        return None
    others = np.ones(len(plans), dtype=bool)
    for other, mask in masks.items():
        if other not in ("deadline_h", "budget_usd"):
            others &= mask
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
