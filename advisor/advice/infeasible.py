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
    "available": "machines you have",
    "deadline_h": "deadline",
    "budget_usd": "budget",
}
MOST_NAMES: Final = 4


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
        todo = _conflict(limits, removed)
    return NoFeasiblePlanError("no plan meets all limits.", todo=todo)


def change(limits: Constraints, name: str) -> str:
    """Return one limit in words, as it stands in `limits`."""
    value = getattr(limits, name)
    if value is None:
        return f"any {NAMES[name]}"
    if name == "deadline_h":
        return f"deadline {hours(value)}{NBSP}h"
    if name == "budget_usd":
        return f"budget {usd(value)}"
    if name == "most_machines":
        return f"{value:,} {'machine' if value == 1 else 'machines'}"
    listed = sorted(str(one).replace("_", "-") for one in value)
    more = f" and {len(listed) - MOST_NAMES:,} more" if len(listed) > MOST_NAMES else ""
    return f"{NAMES[name]} {', '.join(listed[:MOST_NAMES])}{more}"


def _conflict(limits: Constraints, removed: dict[str, int]) -> str:
    """Say that no single limit is to blame, and which removed most."""
    counts = {name: removed.get(name, 0) for name in limits.given()}
    if not counts:
        return "Every price of the machines that could run it is not trusted."
    most = max(counts, key=lambda name: counts[name])
    given = ", ".join(change(limits, name) for name in counts)
    return (
        f"Relaxing one limit is not enough ({given}); {NAMES[most]} removed the most, "
        f"{counts[most]:,} plans."
    )


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
