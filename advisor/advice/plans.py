"""One row of the search's table as a plan."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from advisor import __version__
from advisor.advice.calibrated import calibrated_of
from advisor.advice.entries import (
    basis_of,
    layout_of,
    memory_of,
    mfu_of,
    parts_of,
    step_time_of,
)
from advisor.advice.interruptions import interruptions_of
from advisor.advice.terms import credits_of
from advisor.domain import Basis, Bill, Cluster, Estimate, NodeGroup, Offer, Plan
from advisor.search.finish import deadline_probability

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.search.search import Evaluated

KEY_COLUMNS: Final = ("cloud", "instance_type", "region", "market", "machines")
KEY_SEPARATOR: Final = "~"


def make_plan(evaluated: Evaluated, row: int, engine: Engine, deadline_h: float | None) -> Plan:
    """Return row `row` of the table as a `Plan`."""
    plans = evaluated.plans
    plan = plans.iloc[row]
    entry = int(plan["entry"])
    basis = basis_of(evaluated.best, entry)
    interruptions = interruptions_of(plan)
    cost = _estimate(plan, ("cost_usd", "cost_low_usd", "cost_high_usd"), "USD", basis)
    chance = None
    if deadline_h is not None:
        chance = float(deadline_probability(plans.iloc[[row]], deadline_h)[0])
    return Plan(
        cluster=cluster_of(plan),
        layout=layout_of(evaluated.best, entry),
        offer=offer_of(engine, int(plan["offer"])),
        step_time_s=step_time_of(evaluated.best, entry, basis),
        hours=_estimate(plan, ("hours", "hours_low", "hours_high"), "h", basis),
        cost_usd=cost,
        credits=credits_of(engine, str(plan["cloud"]), cost),
        carbon_kg=_carbon(plan, basis),
        steps=evaluated.workload.steps,
        parts=parts_of(evaluated.best, entry),
        memory=memory_of(evaluated.best, entry),
        bill=bill_of(evaluated, row),
        interruptions=interruptions,
        mfu=mfu_of(evaluated.best, entry),
        deadline_probability=chance,
        calibrated=calibrated_of(
            evaluated.best,
            entry,
            engine,
            steps=evaluated.workload.steps,
            retry_share=evaluated.options.retry_share,
            other_h=float(plan["startup_h"] + plan["interruption_h"]),
        ),
        catalog_hash=engine.catalog.hash,
        data_hash=engine.predictor.data_hash,
        advisor_version=__version__,
    )


def cluster_of(plan: pd.Series[Any]) -> Cluster:
    """Return the machines of a row of the table."""
    group = NodeGroup(
        cloud=str(plan["cloud"]),
        instance_type=str(plan["instance_type"]),
        region=str(plan["region"]),
        count=int(plan["machines"]),
        accelerator=str(plan["accelerator"]),
        accelerators_per_node=float(plan["accelerators"]),
    )
    return Cluster(groups=(group,))


def offer_of(engine: Engine, position: int) -> Offer:
    """Return the offer at a position of the catalog's."""
    row = engine.catalog.offers.iloc[position]
    return engine.catalog.offer(
        str(row["cloud"]), str(row["instance_type"]), str(row["region"]), row["market"]
    )


def _estimate(
    plan: pd.Series[Any], names: tuple[str, str, str], unit: str, basis: Basis
) -> Estimate:
    value, low, high = (float(plan[name]) for name in names)
    return Estimate(value=value, low=min(low, value), high=max(high, value), unit=unit, basis=basis)


def bill_of(evaluated: Evaluated, row: int) -> Bill:
    """Return the bill of a row of the table, to the cent."""
    columns, plan = evaluated.bill, evaluated.plans.iloc[row]
    parts = {part.name: float(getattr(columns, part.name)[row]) for part in fields(columns)}
    known: dict[str, Any] = {name: None if np.isnan(v) else v for name, v in parts.items()}
    if plan["interruption_basis"] and np.isnan(plan["untouched"]):
        known["interruptions_usd"] = None
    if np.isnan(np.broadcast_to(evaluated.terms.increment_s, len(evaluated.plans))[row]):
        known["rounding_usd"] = None
    data = evaluated.options.data
    return Bill(**known, data_stated=data is not None and data.is_there)


def _carbon(plan: pd.Series[Any], basis: Basis) -> Estimate | None:
    """Return the emissions: they grow with the hours that the machines run."""
    rate = float(plan["machines"] * plan["carbon_kg_per_h"])
    if np.isnan(rate):
        return None
    value, low, high = (float(plan[name]) * rate for name in ("hours", "hours_low", "hours_high"))
    return Estimate(value=value, low=min(low, value), high=max(high, value), unit="kg", basis=basis)


def plan_keys(plans: pd.DataFrame) -> list[str]:
    """Return a readable name of every plan, unique in its table, for links."""
    columns = [plans[name].astype(str) for name in KEY_COLUMNS]
    return [KEY_SEPARATOR.join(cells) for cells in zip(*columns, strict=True)]


def row_of_key(plans: pd.DataFrame, key: str) -> int | None:
    """Return the row that `plan_keys` names so, or None."""
    parts = key.split(KEY_SEPARATOR)
    if len(parts) != len(KEY_COLUMNS):
        return None
    found = np.ones(len(plans), dtype=bool)
    for name, value in zip(KEY_COLUMNS, parts, strict=True):
        if name == "machines":
            found &= plans[name].to_numpy() == _count_of(value)
        else:
            found &= (plans[name] == value).to_numpy()
    rows = np.flatnonzero(found)
    return int(rows[0]) if len(rows) else None


def _count_of(text: str) -> int:
    """Return the count in a key, -1 where it is none: an address may hold anything."""
    return int(text) if len(text) < 10 and text.isascii() and text.isdecimal() else -1
