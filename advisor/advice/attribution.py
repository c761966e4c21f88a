"""What each change between two plans did to the bill: made again, one change at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.advice.advise import select
from advisor.advice.asked import limits_from, options_from
from advisor.advice.changes import changes
from advisor.advice.proposals import DEFAULT_PICK
from advisor.core.errors import AdvisorError, UnknownNameError
from advisor.core.units import usd
from advisor.domain.difference import Cause, Effect, PlanDifference
from advisor.search.constraints import Constraints
from advisor.search.search import Machines, SearchOptions, evaluate

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.domain import Plan, Proposal, Workload
    from advisor.search.search import Evaluated

CENT_USD: Final = 0.01
# Parts of a bill that a machine's price does not move.
NOT_RENT: Final = ("storage_usd", "writes_usd", "data_storage_usd", "traffic_usd")


@dataclass(frozen=True, slots=True)
class Step:
    """The bill once a change is made, and what the change was."""

    cause: Cause
    bill_usd: float
    reason: str


def difference(before: Proposal, after: Proposal, engine: Engine) -> PlanDifference:
    """Return what changed between two plans and what each change did to the median bill.

    The first plan is taken to today's price of its machines, then predicted anew, then given the
    other job, then the best machines for it, then the other limits; what is left is named too.
    Each effect holds once those before it are made; together they are the whole difference.

    Raises
    ------
    AdvisorError
        If the limits of a file are none of this version.
    """
    found = changes(before, after)
    a, b = before.plan.cost_usd.value, after.plan.cost_usd.value
    effects: list[Effect] = []
    bill = a
    for step in _steps(before, after, engine) if found else []:
        if abs(step.bill_usd - bill) >= CENT_USD:
            effects.append(Effect(cause=step.cause, usd=step.bill_usd - bill, reason=step.reason))
            bill = step.bill_usd
    if found and abs(b - bill) >= CENT_USD:
        said = "the second plan rests on other prices, another predictor or own runs, or is no pick"
        effects.append(Effect(cause="rest", usd=b - bill, reason=said))
    return PlanDifference(
        before_usd=a, after_usd=b, changes=found, effects=tuple(effects),
        notes=_notes(before, after, engine) if found else (),
    )  # fmt: skip


def _steps(before: Proposal, after: Proposal, engine: Engine) -> list[Step]:
    steps = [*_on_the_same_machines(before, engine)]
    known = bool(steps)
    limits, options = _question(before)
    if known and after.workload != before.workload:
        moved = _bill_there(after.workload, before.plan, engine, options)
        if moved is not None:
            steps.append(Step("job", moved, "the other job on the same machines"))
    new_limits, new_options = _question(after)
    table = evaluate(after.workload, engine.catalog, engine.predictor, options)
    best = _picked(table, limits, before.pick)
    if best is not None:
        cause: Cause = "plan" if known else "prices"
        why = "the best machines under the same limits"
        if not known:
            why += "; the first plan's are no longer offered or do not fit"
        steps.append(Step(cause, best, why))
    if new_options != options:
        table = evaluate(after.workload, engine.catalog, engine.predictor, new_options)
    best = _picked(table, new_limits, after.pick)
    if best is not None:
        steps.append(Step("limits", best, "the other limits, options or pick"))
    return steps


def _on_the_same_machines(before: Proposal, engine: Engine) -> list[Step]:
    """Return the first plan at today's price, and as predicted today; nothing if it is gone."""
    plan, offer = before.plan, before.plan.offer
    try:
        today = engine.catalog.offer(offer.cloud, offer.instance_type, offer.region, offer.market)
    except UnknownNameError:
        return []
    other = sum(getattr(plan.bill, name, None) or 0.0 for name in NOT_RENT)
    rent = plan.cost_usd.value - other
    priced = other + rent * today.usd_per_h / offer.usd_per_h
    now = _bill_there(before.workload, plan, engine, _question(before)[1])
    if now is None:
        return []
    why = f"{usd(offer.usd_per_h)}/h a machine then, {usd(today.usd_per_h)}/h today"
    return [Step("prices", priced, why),
            Step("predictor", now, "the same job on the same machines predicted anew")]  # fmt: skip


def _bill_there(
    workload: Workload, plan: Plan, engine: Engine, options: SearchOptions
) -> float | None:
    """Return today's median bill of a job on a plan's machines [USD], None if it cannot run."""
    offer = plan.offer
    only = Machines(cloud=offer.cloud, instance_type=offer.instance_type,
                    count=plan.cluster.machines)  # fmt: skip
    try:
        table = evaluate(workload, engine.catalog, engine.predictor, options, only)
    except AdvisorError:  # the machine left the catalog
        return None
    plans = table.plans
    here = (plans["region"] == offer.region) & (plans["market"] == offer.market)
    rows = np.flatnonzero(here.to_numpy(bool))
    return float(plans["cost_usd"].iloc[int(rows[0])]) if len(rows) else None


def _picked(table: Evaluated, limits: Constraints, pick: str) -> float | None:
    rows = select(table, limits).picks
    row = rows.get(pick or DEFAULT_PICK)
    return None if row is None else float(table.plans["cost_usd"].iloc[row])


def _question(proposal: Proposal) -> tuple[Constraints, SearchOptions]:
    limits = limits_from(proposal.limits) if proposal.limits else Constraints()
    return limits, options_from(proposal.options) if proposal.options else SearchOptions()


def _notes(before: Proposal, after: Proposal, engine: Engine) -> tuple[str, ...]:
    notes = []
    for name, one in (("first", before), ("second", after)):
        if not one.limits:
            notes.append(f"The {name} plan's limits are not recorded; none are assumed.")
        if one.plan.calibrated is not None:
            notes.append(f"Own runs calibrate the {name} plan; they are not in its file.")
    plan = after.plan
    stamp = (engine.catalog.hash, engine.predictor.data_hash)
    if (plan.catalog_hash, plan.data_hash) != stamp:
        notes.append("The second plan was not made with today's prices and measured runs.")
    return tuple(notes)
