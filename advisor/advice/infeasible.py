"""What to say when nothing fits: which limit to relax, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import NBSP, hours, usd
from advisor.search.constraints import Constraints, Relaxation, relaxations

if TYPE_CHECKING:
    from advisor.search.search import Evaluated

NAMES: Final = {
    "clouds": "clouds",
    "areas": "areas",
    "regions": "regions",
    "families": "accelerator families",
    "accelerators": "accelerators",
    "markets": "markets",
    "most_machines": "machines",
    "deadline_h": "deadline",
    "budget_usd": "budget",
}


def no_plan(
    evaluated: Evaluated, limits: Constraints, removed: dict[str, int]
) -> NoFeasiblePlanError:
    """Return the error that names the limits to relax, each with the value that helps."""
    ways = relaxations(evaluated.plans, limits)
    if ways:
        todo = "Relax one: " + "; ".join(_way(evaluated, way) for way in ways) + "."
    elif not len(evaluated.plans):
        todo = _nothing_fits(evaluated)
    else:
        most = max(removed, key=lambda name: removed[name])
        todo = f"Several limits conflict; “{NAMES.get(most, most)}” removed the most plans."
    return NoFeasiblePlanError("no plan meets all limits.", todo=todo)


def change(limits: Constraints, name: str) -> str:
    """Return a relaxed limit in words."""
    value = getattr(limits, name)
    if name == "deadline_h":
        return f"deadline {hours(value)}{NBSP}h"
    if name == "budget_usd":
        return f"budget {usd(value)}"
    if name == "most_machines":
        return f"{value:,} machines"
    return f"any {NAMES[name]}"


def _way(evaluated: Evaluated, way: Relaxation) -> str:
    plan = evaluated.plans.iloc[way.plan]
    changes = " and ".join(change(way.limits, name) for name in way.names)
    return (
        f"{changes} ({plan['machines']} × {plan['instance_type']}, "
        f"{hours(plan['hours'])}{NBSP}h, {usd(plan['cost_usd'])})"
    )


def _nothing_fits(evaluated: Evaluated) -> str:
    if evaluated.considered == 0:
        return (
            "No layout divides the global batch over the machines: choose a batch that is a "
            "multiple of the number of accelerators."
        )
    return (
        f"None of {evaluated.considered:,} layouts fits into memory on up to "
        f"{evaluated.options.most_accelerators:,} accelerators: allow more accelerators, a "
        "smaller memory margin, LoRA or QLoRA, or a shorter sequence."
    )
