"""Constraints: what may be recommended, counted as they remove plans."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.domain import Market
from advisor.domain.hardware import COMMITTED
from advisor.domain.quota import Quota
from advisor.search.facts import carbon_kg
from advisor.search.finish import hours_at_chance, meets_deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

DEFAULT_CHANCE: Final = 0.8
# A reserved price is paid for a year or three, whatever the job takes: only for those who hold it.
# What is bound already, in the user's own list, costs what it costs.
NO_COMMITMENT: Final[frozenset[Market]] = frozenset({"on_demand", "spot", *COMMITTED})
# Limits that are numbers, and what others are where nothing is limited and that is not None.
NUMBERS: Final = ("deadline_h", "budget_usd", "most_machines", "least_memory_gb",
                  "spot_usd_per_accelerator_h", "most_usd_per_h", "most_carbon_kg")  # fmt: skip
OFF: Final[dict[str, object]] = {"confidential": False, "quotas": ()}
# The column of the names that a limit lists.
COLUMNS: Final = {
    "clouds": "cloud", "areas": "area", "regions": "region", "families": "family",
    "accelerators": "accelerator", "markets": "market", "countries": "country",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Limits on plans; None leaves a limit out, an empty set would leave nothing.

    Attributes
    ----------
    clouds, areas, regions, families, accelerators, markets : frozenset of str, optional
        Names of what may be used. Reserved prices are left out unless asked for: they bind for
        years.
    countries : frozenset of str, optional
        Codes of the countries the machines must stand in; a region that no source places is in
        none.
    confidential : bool
        Only machines whose accelerators a source says work in confidential machines.
    least_memory_gb : float, optional
        Memory of one accelerator, at least [GB].
    most_machines : int, optional
        Machines, at most.
    quotas : tuple of Quota
        What the user's accounts may run at once.
    spot_usd_per_accelerator_h, most_usd_per_h : float, optional
        Spot price of one accelerator, and price of all machines together, at most [USD/h].
    most_carbon_kg : float, optional
        Emissions of the job, at most [kg CO2e]; where they are not known they are too many.
    deadline_h, budget_usd : float, optional
        Hours [h] and median bill [USD], at most.
    chance : float
        How sure it must be that the deadline is met.
    """

    clouds: frozenset[str] | None = None
    areas: frozenset[str] | None = None
    regions: frozenset[str] | None = None
    families: frozenset[str] | None = None
    accelerators: frozenset[str] | None = None
    markets: frozenset[Market] | None = NO_COMMITMENT
    countries: frozenset[str] | None = None
    confidential: bool = False
    least_memory_gb: float | None = None
    most_machines: int | None = None
    quotas: tuple[Quota, ...] = ()
    spot_usd_per_accelerator_h: float | None = None
    most_usd_per_h: float | None = None
    most_carbon_kg: float | None = None
    deadline_h: float | None = None
    budget_usd: float | None = None
    chance: float = DEFAULT_CHANCE

    def __post_init__(self) -> None:
        for name in NUMBERS:
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
        return replace(self, **{name: OFF.get(name)})  # type: ignore[arg-type]  # as their types

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
    block_h = plans["block_h"].to_numpy() if "block_h" in plans else np.empty(0)
    if not np.isnan(block_h).all():
        yield "capacity_block", _within_blocks(plans, block_h, limits.chance)
    for name, column in COLUMNS.items():
        wanted = getattr(limits, name)
        if wanted is not None:
            yield name, plans[column].isin(wanted).to_numpy()
    yield from _machine_masks(plans, limits)
    yield from _price_masks(plans, limits)
    yield from _job_masks(plans, limits)


def _machine_masks(plans: pd.DataFrame, limits: Constraints) -> Iterator[tuple[str, np.ndarray]]:
    if limits.confidential:
        yield "confidential", plans["confidential"].to_numpy(bool)
    if limits.least_memory_gb is not None:
        yield "least_memory_gb", plans["device_memory_gb"].to_numpy() >= limits.least_memory_gb
    if limits.most_machines is not None:
        yield "most_machines", plans["machines"].to_numpy() <= limits.most_machines
    if limits.quotas:
        yield "quotas", within_quotas(plans, limits.quotas)


def _job_masks(plans: pd.DataFrame, limits: Constraints) -> Iterator[tuple[str, np.ndarray]]:
    if limits.most_carbon_kg is not None:
        yield "most_carbon_kg", carbon_kg(plans) <= limits.most_carbon_kg
    if limits.deadline_h is not None:
        yield "deadline_h", meets_deadline(plans, limits.deadline_h, limits.chance)
    if limits.budget_usd is not None:
        yield "budget_usd", plans["cost_usd"].to_numpy() <= limits.budget_usd


def _within_blocks(plans: pd.DataFrame, block_h: np.ndarray, chance: float) -> np.ndarray:
    """Return the mask of plans that end within their capacity block, if they are in one."""
    rows = np.flatnonzero(~np.isnan(block_h))
    within = np.ones(len(plans), dtype=bool)
    within[rows] = hours_at_chance(plans.iloc[rows], chance) <= block_h[rows]
    return within


def within_quotas(plans: pd.DataFrame, quotas: tuple[Quota, ...]) -> np.ndarray:
    """Return the mask of plans that use no more than any quota allows.

    A machine whose vCPUs are not known is within no quota of vCPUs.
    """
    allowed = np.ones(len(plans), dtype=bool)
    machines = plans["machines"].to_numpy(float)
    spot = (plans["market"] == "spot").to_numpy()
    for quota in quotas:
        hit = plans["instance_type"].isin(quota.instance_types)
        if quota.cloud:
            hit &= plans["cloud"] == quota.cloud
        if quota.region:
            hit &= plans["region"] == quota.region
        if quota.market != "any":
            hit &= spot == (quota.market == "spot")
        used = machines if quota.unit == "machines" else machines * plans[quota.unit].to_numpy()
        allowed &= ~hit.to_numpy() | (used <= quota.most)
    return allowed


def _price_masks(plans: pd.DataFrame, limits: Constraints) -> Iterator[tuple[str, np.ndarray]]:
    if limits.spot_usd_per_accelerator_h is None and limits.most_usd_per_h is None:
        return
    usd_per_h = plans["usd_per_h"].to_numpy()
    if limits.spot_usd_per_accelerator_h is not None:
        each = usd_per_h / plans["accelerators"].to_numpy()
        cheap = each <= limits.spot_usd_per_accelerator_h
        yield "spot_usd_per_accelerator_h", cheap | (plans["market"] != "spot").to_numpy()
    if limits.most_usd_per_h is not None:
        yield "most_usd_per_h", plans["machines"].to_numpy() * usd_per_h <= limits.most_usd_per_h


def apply(plans: pd.DataFrame, limits: Constraints) -> tuple[np.ndarray, dict[str, int]]:
    """Return the mask of plans that satisfy everything and how many each constraint removed."""
    left = np.ones(len(plans), dtype=bool)
    removed = {}
    for name, satisfied in filter_masks(plans, limits):
        removed[name] = int((left & ~satisfied).sum())
        left &= satisfied
    return left, removed
