"""What stands in a report, as text and figures; how it looks is decided elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from advisor.advice import terms
from advisor.advice.interruptions import sentences
from advisor.advice.quoting import one_line
from advisor.advice.reports import words
from advisor.core.units import NBSP, percent, usd
from advisor.domain.proposal import RUNNER_UP

if TYPE_CHECKING:
    import datetime as dt

    from advisor.domain import Plan, Proposal

PICKS: Final = {"cheapest": "Cheapest", "fastest": "Fastest", "best_value": "Best value",
                "safest": "Safest", RUNNER_UP: "Runner-up"}  # fmt: skip
NOT_RECORDED: Final = "not recorded"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that counts, its bounds or what it means, and its name."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan among others: its figures, and the bounds of its cost [USD] for the chart."""

    name: str
    machines: str
    place: str
    cost: str
    cost_bounds: str
    time: str
    time_bounds: str
    verdict: str
    low_usd: float
    value_usd: float
    high_usd: float


@dataclass(frozen=True, slots=True)
class Report:
    """One page: the job, the choice, cost and time with intervals, what was assumed, and why not.

    Every text is one line, and not yet escaped for any format.
    """

    title: str
    machines: str
    place: str
    reason: str
    figures: tuple[Figure, ...]
    job: words.Pairs
    limits: words.Pairs
    bill: words.Pairs
    bill_total: str
    bill_note: str
    choices: tuple[Choice, ...]  # the chosen one first
    runner_up: str
    assumptions: tuple[str, ...]
    origin: tuple[str, ...]
    plan_id: str


def report_of(proposal: Proposal, made_on: dt.date) -> Report:
    """Return the report of a plan.

    Parameters
    ----------
    made_on : date
        The date that the report bears; that of the plan stands beside it.
    """
    plan = proposal.plan
    name = proposal.workload.model.name
    return Report(
        title=one_line(f"Training {name}"),
        machines=one_line(_machines(plan)),
        place=one_line(words.place(plan)),
        reason=one_line(_reason(proposal)),
        figures=_figures(plan, proposal),
        job=_clean(words.job_pairs(proposal.workload)),
        limits=_clean(words.limit_pairs(proposal.limits, proposal.options)),
        bill=words.bill_pairs(plan.bill),
        bill_total=words.cents(plan.cost_usd.value),
        bill_note=f"Not contained: {', '.join(plan.bill.left_out)}.",
        choices=_choices(proposal),
        runner_up=one_line(_runner_up(proposal)),
        assumptions=tuple(one_line(line) for line in _assumptions(proposal)),
        origin=tuple(one_line(line) for line in _origin(proposal, made_on)),
        plan_id=plan.id,
    )


def _machines(plan: Plan) -> str:
    group = plan.cluster.groups[0]
    return f"{plan.cluster} ({plan.cluster.accelerators:g} × {group.accelerator})"


def _reason(proposal: Proposal) -> str:
    title = PICKS.get(proposal.pick, "")
    if not title:
        return proposal.reason or "Chosen by hand among the plans that the search found."
    return f"{title} within the limits. {proposal.reason}".strip()


def _figures(plan: Plan, proposal: Proposal) -> tuple[Figure, ...]:
    level = f"{plan.cost_usd.level:.0%}".replace("%", f"{NBSP}%")
    least = "at least " if words.is_lower_bound(plan) else ""
    cost, cost_bounds = words.money(plan.cost_usd)
    time, time_bounds = words.time(plan.hours)
    found = [
        Figure("Cost of the finished job", least + cost, f"{level} interval {cost_bounds}"),
        Figure("Time to finish", least + time, f"{level} interval {time_bounds}"),
    ]
    if plan.credits is not None:
        to_pay, bounds = words.money(plan.credits.to_pay_usd)
        found.append(Figure("To pay after credits", to_pay, bounds))
    deadline = proposal.limits.get("deadline_h")
    if plan.deadline_probability is not None:
        by = f"within {deadline:g}{NBSP}h" if isinstance(deadline, int | float) else "in time"
        found.append(Figure("Chance to be done", percent(plan.deadline_probability), by))
    risk = percent(plan.memory.out_of_memory_probability)
    found.append(Figure("Risk to run out of memory", risk, "a short run beforehand shows it"))
    return tuple(found)


def _choices(proposal: Proposal) -> tuple[Choice, ...]:
    chosen = proposal.plan
    title = PICKS.get(proposal.pick, "")
    found = [_choice(f"This plan ({title.lower()})" if title else "This plan", chosen, "")]
    seen = {chosen.id: 0}
    for one in proposal.alternatives:
        name = PICKS.get(one.name, one_line(one.name))
        if one.plan.id in seen:  # one plan can be several picks
            at = seen[one.plan.id]
            found[at] = replace(found[at], name=f"{found[at].name}, {name.lower()}")
            continue
        seen[one.plan.id] = len(found)
        found.append(_choice(name, one.plan, words.against(one.plan, chosen)))
    return tuple(found)


def _choice(name: str, plan: Plan, verdict: str) -> Choice:
    cost, time = plan.cost_usd, plan.hours
    return Choice(
        name,
        one_line(str(plan.cluster)),
        one_line(words.place(plan)),
        *words.money(cost),
        *words.time(time),
        verdict,
        cost.low,
        cost.value,
        cost.high,
    )


def _runner_up(proposal: Proposal) -> str:
    second, plan = proposal.runner_up, proposal.plan
    if second is None:
        return "No plan on other machines is within the limits, or none was recorded."
    said = f"{second.cluster} on {words.place(second)}: {words.against(second, plan)}."
    if words.overlap(plan.cost_usd, second.cost_usd):
        said += " The intervals of the cost overlap: the order can turn out the other way."
    return said


def _assumptions(proposal: Proposal) -> list[str]:
    plan, workload = proposal.plan, proposal.workload
    offer = plan.offer
    flags = f" ({', '.join(flag.replace('_', ' ') for flag in offer.flags)})" if offer.flags else ""
    lines = [
        (
            f"Price: {usd(offer.usd_per_h)} an hour for each machine, {offer.dated}{flags}; "
            f"{offer.source}."
        ),
        f"Layout: {plan.layout}; {percent(plan.mfu)} of the peak performance is used.",
        words.BASIS[plan.cost_usd.basis],
    ]
    if plan.interruptions is not None:
        lines.append(f"Spot machines can be taken away. {sentences(plan.interruptions)}")
    lines += terms.sentences(plan)
    if workload.assumptions:
        lines.append(f"Not stated with the job and assumed: {', '.join(workload.assumptions)}.")
    lines += [f"{line[:1].upper()}{line[1:].rstrip('.')}." for line in proposal.caveats]
    return lines


def _origin(proposal: Proposal, made_on: dt.date) -> tuple[str, ...]:
    plan, catalog, predictor = proposal.plan, proposal.catalog, proposal.predictor
    priced = catalog.get("as_of") or NOT_RECORDED
    runs = predictor.get("runs")
    learnt = f", {runs:,} measured runs" if isinstance(runs, int) else ""
    data = plan.data_hash[: words.HASH_LETTERS]
    return (
        f"Report of {made_on}; plan {plan.id} of {proposal.made_on or NOT_RECORDED}",
        f"Prices: catalog {plan.catalog_hash[: words.HASH_LETTERS]}, newest of {priced}",
        f"Predictor: advisor {plan.advisor_version}, data {data}{learnt}",
    )


def _clean(pairs: words.Pairs) -> words.Pairs:
    return tuple((one_line(name), one_line(value)) for name, value in pairs)
