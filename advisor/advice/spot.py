"""A plan on spot machines: every policy simulated, on which data, and with more machines."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor.advice.accuracy import accuracy_caveat
from advisor.advice.spot_job import (
    USUAL,
    SpotOptions,
    data_of,
    known_of,
    other_market,
    spot_job,
)
from advisor.core.errors import PredictionError
from advisor.core.units import HOUR_S
from advisor.domain import Estimate
from advisor.domain.spot import MoreMachines, PolicyOutcome, SpotAdvice
from advisor.search.finish import deadline_probability
from advisor.transient import (
    INTERVALS,
    POLICIES,
    Draws,
    SpotJob,
)
from advisor.transient.evaluate import Evaluated as Simulated
from advisor.transient.evaluate import evaluate
from advisor.transient.intervals.fixed import Fixed
from advisor.transient.policies.price_ceiling import PriceCeiling

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.domain import Basis
    from advisor.predictor.arrays import FloatArray
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated
    from advisor.transient.interval import IntervalRule
    from advisor.transient.policy import Policy

RUNS: Final = 4_000
OTHER_COUNTS: Final = 3


def prepared(name: str, options: SpotOptions) -> tuple[Policy, str | IntervalRule]:
    """Return a policy and a checkpoint rule as the user set them."""
    policy: Policy = POLICIES[name]()
    if name == "price_ceiling" and options.prices_usd_per_h:
        ceiling = options.ceiling_usd_per_h or max(options.prices_usd_per_h)
        policy = PriceCeiling(options.prices_usd_per_h, options.price_step_s, ceiling)
    return policy, "young" if options.interval_s is None else Fixed(options.interval_s)


def simulate_policy(job: SpotJob, name: str, options: SpotOptions, draws: Draws) -> Simulated:
    """Simulate one policy with what the user set; that it does not finish is its reason."""
    policy, rule = prepared(name, options)
    try:
        found = evaluate(job, policy, rule, draws)
    except PredictionError as error:
        return Simulated(name, policy.label, None, None, error.what.rstrip("."))
    return replace(found, policy=name)


def finish_hours(job: SpotJob, name: str, options: SpotOptions, draws: Draws) -> FloatArray | None:
    """Return the hours that runs of a policy took, shortest first; None where it does not apply.

    Returns
    -------
    array, shape (draws.runs,)
        With the same draws, those of `simulate_policy`.
    """
    policy, rule = prepared(name, options)
    chosen = INTERVALS[rule]() if isinstance(rule, str) else rule
    segments = job.segments(chosen.interval_s(job))
    if policy.applies(job, segments):
        return None
    try:
        runs = policy.simulate(job, segments, draws)
    except PredictionError:
        return None
    return np.sort(runs.finish_s) / HOUR_S


def spot_advice(
    evaluated: Evaluated,
    row: int,
    catalog: Catalog,
    limits: Constraints,
    options: SpotOptions = USUAL,
    runs: int = RUNS,
) -> SpotAdvice:
    """Return a plan on spot under every policy, cheapest first.

    Parameters
    ----------
    evaluated : Evaluated
        The table of the job.
    row : int
        A row on spot.
    limits : Constraints
        Deadline, budget, and how sure to be of the deadline.
    options : SpotOptions
        What the user set.
    runs : int
        Simulated runs of each policy, with common random numbers.

    Raises
    ------
    InvalidInputError
        If the checkpoint interval is longer than the job.
    """
    plan = evaluated.plans.iloc[row]
    known = options.history or known_of(plan, catalog)
    demand = other_market(evaluated.plans, row, "on_demand")
    prices = evaluated.plans["usd_per_h"]
    least_h = float(plan["training_h"] + plan["startup_h"])
    rate = float(plan["machines"] * plan["usd_per_h"])
    bare = SpotAdvice(
        machines=f"{plan['machines']} × {plan['instance_type']}",
        region=str(plan["region"]),
        usd_per_h=float(plan["usd_per_h"]),
        on_demand_usd_per_h=None if demand is None else float(prices.iloc[demand]),
        data=data_of(known),
        least_h=least_h,
        least_usd=least_h * rate,
        other_counts=other_counts(evaluated.plans, row, limits.deadline_h),
    )
    if known is None:
        return bare
    job = spot_job(evaluated, row, known, limits, options)
    if options.interval_s is not None:
        job.segments(options.interval_s)
    basis: Basis = "measured" if known.basis.kind in ("place", "history") else "extrapolated"
    draws = Draws(runs)
    found = [policy_outcome(simulate_policy(job, name, options, draws), basis, job)
             for name in POLICIES]  # fmt: skip
    found.sort(key=lambda one: math.inf if one.cost_usd is None else one.cost_usd.value)
    caveats = tuple(dict.fromkeys(one.caveat for one in found if one.caveat))
    return bare.model_copy(
        update={
            "policies": tuple(found),
            "best": _best(found, limits, priced=options.samples_factor > 1),
            "best_interval_h": _best_interval_h(job),
            "caveats": caveats,
        }
    )


def policy_outcome(found: Simulated, basis: Basis, job: SpotJob) -> PolicyOutcome:
    """Return what came of a policy as a noun."""
    policy = POLICIES[found.policy]
    head = {"policy": found.policy, "label": found.label, "paper": policy.paper}
    caveat = ""
    if policy.asynchronous:
        caveat = accuracy_caveat(job.machines, job.samples_factor)
    result = found.outcome
    if result is None:
        return PolicyOutcome(**head, reason=found.reason)
    hours = [value / HOUR_S for value in (result.mean_s, result.finish_s[0], result.finish_s[2])]
    saving = result.saving or (None, None, None)
    writes = found.policy != "on_demand" and found.interval_s is not None
    return PolicyOutcome(
        **head,
        checkpoint_every_h=(found.interval_s or 0) / HOUR_S if writes else None,
        hours=_estimate(hours, "h", basis),
        cost_usd=_estimate([result.mean_usd, result.cost_usd[0], result.cost_usd[2]], "USD", basis),
        p90_usd=result.p90_usd,
        deadline_probability=result.deadline_probability,
        budget_probability=result.budget_probability,
        interruptions=result.revocations,
        wasted_share=result.wasted_share,
        saving_share_low=saving[0],
        saving_share=saving[1],
        saving_share_high=saving[2],
        caveat=caveat,
    )


def other_counts(
    plans: pd.DataFrame, row: int, deadline_h: float | None
) -> tuple[MoreMachines, ...]:
    """Return the same type and market with the nearest numbers of machines, this one among them.

    Only numbers that the job's batch divides over are in the table.
    """
    plan = plans.iloc[row]
    same = plans["offer"].to_numpy() == plan["offer"]
    rows = np.flatnonzero(same)
    rows = rows[np.argsort(plans["machines"].to_numpy()[rows], kind="stable")]
    at = int(np.flatnonzero(rows == row)[0])
    rows = rows[max(0, at - 1) : at + OTHER_COUNTS]
    chances = None if deadline_h is None else deadline_probability(plans.iloc[rows], deadline_h)
    return tuple(
        _more_machines(one, None if chances is None else float(chances[place]))
        for place, one in enumerate(plans.iloc[rows].to_dict("records"))
    )


def _more_machines(one: dict[Hashable, Any], chance: float | None) -> MoreMachines:
    bound = bool(one["interruption_basis"]) and math.isnan(one["untouched"])
    return MoreMachines(
        machines=int(one["machines"]),
        hours=float(one["hours"]),
        cost_usd=float(one["cost_usd"]),
        deadline_probability=chance,
        hours_90=None if bound else (float(one["hours_low"]), float(one["hours_high"])),
        cost_90_usd=None if bound else (float(one["cost_low_usd"]), float(one["cost_high_usd"])),
        bound=bound,
    )


def _best(found: list[PolicyOutcome], limits: Constraints, *, priced: bool) -> str:
    """Return the cheapest policy that is sure enough of the deadline, or the surest; or "".

    One that costs accuracy is not the best while that is not `priced`.
    """
    able = [one for one in found if one.cost_usd is not None]
    able = [one for one in able if priced or not POLICIES[one.policy].asynchronous]
    sure = [one for one in able if (one.deadline_probability or 0) >= limits.chance]
    if limits.deadline_h is None:
        sure = able
    if sure:
        return sure[0].policy
    return max(able, key=lambda one: one.deadline_probability or 0).policy if able else ""


def _best_interval_h(job: SpotJob) -> float | None:
    try:
        return float(INTERVALS["optimal"]().interval_s(job)) / HOUR_S
    except PredictionError:
        return None


def _estimate(values: list[float], unit: str, basis: Basis) -> Estimate:
    # A mean can lie outside the bounds: rare interruptions that cost much.
    value, low, high = values
    return Estimate(value=value, low=min(low, value), high=max(high, value), unit=unit, basis=basis)
