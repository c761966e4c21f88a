"""Advice as files: the front as CSV, a plan or the whole as JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.domain import Advice, Plan

# A cell that starts like this is run as a formula by spreadsheets.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def front_csv(advice: Advice) -> str:
    """Return the picks and the front as CSV with one header row; units stand in the names."""
    return plans_csv(_named(advice))


def plans_csv(named: Iterable[tuple[Plan, str]]) -> str:
    """Return plans, each with the names of its picks, as CSV with one header row."""
    text = io.StringIO()
    rows = [plan_row(plan, pick) for plan, pick in named]
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: safe_cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _named(advice: Advice) -> Iterator[tuple[Plan, str]]:
    names: dict[str, list[str]] = {}
    plans: dict[str, Plan] = {}
    for name, pick in advice.picks.items():
        names.setdefault(pick.plan.id, []).append(name)
        plans.setdefault(pick.plan.id, pick.plan)
    for plan in advice.pareto:
        plans.setdefault(plan.id, plan)
    for key, plan in sorted(plans.items(), key=lambda item: item[1].cost_usd.value):
        yield plan, " ".join(names.get(key, []))


def plan_row(plan: Plan, pick: str) -> dict[str, object]:
    """Return a plan as the cells of a table, by column; units stand in the names."""
    group, layout = plan.cluster.groups[0], plan.layout
    return {
        "plan_id": plan.id,
        "pick": pick,
        "cloud": group.cloud,
        "region": group.region,
        "market": plan.offer.market,
        "machines": group.count,
        "instance_type": group.instance_type,
        "accelerator": group.accelerator,
        "accelerators": plan.cluster.accelerators,
        "cost_usd": round(plan.cost_usd.value, 2),
        "cost_low_usd": round(plan.cost_usd.low, 2),
        "cost_high_usd": round(plan.cost_usd.high, 2),
        "hours": round(plan.hours.value, 3),
        "hours_low": round(plan.hours.low, 3),
        "hours_high": round(plan.hours.high, 3),
        "step_time_s": round(plan.step_time_s.value, 5),
        "deadline_probability": plan.deadline_probability,
        **_interruptions(plan),
        "out_of_memory_probability": round(plan.memory.out_of_memory_probability, 4),
        "data_parallel": layout.data_parallel,
        "tensor_parallel": layout.tensor_parallel,
        "pipeline_parallel": layout.pipeline_parallel,
        "zero_stage": layout.zero_stage,
        "micro_batch": layout.micro_batch,
        "accumulation": layout.accumulation,
        "recompute": layout.recompute,
        "prediction": plan.cost_usd.basis,
        "usd_per_machine_h": plan.offer.usd_per_h,
        "discount_percent": plan.offer.discount_percent,
        "to_pay_usd": None if plan.credits is None else round(plan.credits.to_pay_usd.value, 2),
        "carbon_kg": None if plan.carbon_kg is None else round(plan.carbon_kg.value, 3),
        "price_as_of": plan.offer.as_of,
        "price_source": plan.offer.source,
    }


def _interruptions(plan: Plan) -> dict[str, object]:
    known = plan.interruptions
    return {
        "interruptions_expected": None if known is None else known.expected,
        "interruption_hours": None if known is None else known.added_h,
        "interruption_data": "" if known is None else known.basis,
    }


def safe_cell(value: object) -> object:
    """Return a cell that no spreadsheet runs as a formula; only texts are changed.

    >>> safe_cell("=cmd()"), safe_cell(-1.5)
    ("'=cmd()", -1.5)
    """
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
