"""What to say when nothing fits: which limit to relax, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.catalog.places import in_words
from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import NBSP, hours, number, usd
from advisor.search.conflicts import smallest_conflict
from advisor.search.constraints import Constraints
from advisor.search.relax import Relaxation, relaxations

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.search.search import Evaluated

NAMES: Final = {
    "clouds": "clouds",
    "areas": "areas",
    "regions": "regions",
    "families": "accelerator families",
    "accelerators": "accelerators",
    "markets": "markets",
    "countries": "countries",
    "confidential": "confidential computing",
    "least_memory_gb": "accelerator memory",
    "most_machines": "machines",
    "quotas": "quotas",
    "available": "machines you have",
    "spot_usd_per_accelerator_h": "spot price",
    "most_usd_per_h": "price per hour",
    "most_carbon_kg": "carbon",
    "capacity_block": "capacity blocks",
    "deadline_h": "deadline",
    "budget_usd": "budget",
}
AMOUNTS: Final[dict[str, Callable[[float], str]]] = {
    "deadline_h": lambda value: f"deadline {hours(value)}{NBSP}h",
    "budget_usd": lambda value: f"budget {usd(value)}",
    "most_machines": lambda value: f"{value:,} {'machine' if value == 1 else 'machines'}",
    "least_memory_gb": lambda value: f"accelerator memory {number(value)}{NBSP}GB",
    "spot_usd_per_accelerator_h": lambda value: f"spot price {usd(value)} per accelerator-hour",
    "most_usd_per_h": lambda value: f"price {usd(value)} per hour",
    "most_carbon_kg": lambda value: f"carbon {number(value)}{NBSP}kg CO2e",
}
MOST_NAMES: Final = 4


def no_plan(
    evaluated: Evaluated, limits: Constraints, removed: dict[str, int]
) -> NoFeasiblePlanError:
    """Return the error that names the limits to relax, each with the value that helps."""
    ways = relaxations(evaluated.plans, limits)
    if not len(evaluated.plans):
        todo = _nothing_fits(evaluated)
    elif ways:
        one = any(len(way.names) == 1 for way in ways)
        joined = "; ".join(_way(evaluated, way) for way in ways)
        todo = f"{'Relax one' if one else 'No single change is enough. Relax together'}: {joined}."
    else:
        todo = _conflict(limits, removed)
    return NoFeasiblePlanError(f"no plan meets all limits{conflict(evaluated, limits)}.", todo=todo)


def conflict(evaluated: Evaluated, limits: Constraints) -> str:
    """Return the fewest limits that leave no plan together, in words; empty where one is left."""
    names = smallest_conflict(evaluated.plans, limits)
    said = [change(limits, name) for name in names]
    if len(said) < 2:
        return f": none meets {said[0]}" if said else ""
    return f": none meets {', '.join(said[:-1])} and {said[-1]} together"


def change(limits: Constraints, name: str) -> str:
    """Return one limit in words, as it stands in `limits`."""
    value = getattr(limits, name)
    if name == "confidential":
        return "confidential computing" if value else "no confidential computing"
    if not value:
        return f"any {NAMES[name]}"
    if name in AMOUNTS:
        return AMOUNTS[name](value)
    if name == "countries":
        return f"countries {in_words(value)}"
    if name == "quotas":
        value = [quota.name for quota in value]
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
