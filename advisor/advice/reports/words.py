"""A plan, its limits and its rivals in words and figures for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from advisor.core.units import NBSP, count, hours, interval, percent, usd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.domain import Bill, Estimate, Plan, Workload

# Letters of a content hash that people are shown.
HASH_LETTERS: Final = 12
Pairs = tuple[tuple[str, str], ...]
CLOUDS: Final = {"aws": "AWS", "gcp": "Google Cloud", "azure": "Azure", "own": "own machines"}
LIMITS: Final = {
    "budget_usd": "Budget", "clouds": "Clouds", "areas": "Areas", "regions": "Regions",
    "families": "Accelerator families", "accelerators": "Accelerators", "markets": "Markets",
    "most_machines": "Machines, at most", "most_accelerators": "Accelerators, at most",
    "memory_margin": "Device memory left free", "retry_share": "Allowance for restarts",
}  # fmt: skip
SHARES: Final = ("memory_margin", "retry_share")
PARTS: Final = {
    "machines_usd": "Machines while they train", "startup_usd": "Machines while they start",
    "retries_usd": "Allowance for restarts", "interruptions_usd": "Interruptions, expected",
    "rounding_usd": "Billing minimum, whole minutes or hours",
    "failed_usd": "Failed first attempt, expected", "storage_usd": "Checkpoint storage",
    "writes_usd": "Writing checkpoints", "data_storage_usd": "Storage of the data",
    "traffic_usd": "Data transfer",
}  # fmt: skip
BASIS: Final = {
    "measured": "The prediction rests on measured runs of this very set-up.",
    "calibrated": "The prediction is calibrated by your own measured runs.",
    "interpolated": "The prediction lies between measured runs of other set-ups.",
    "extrapolated": "The prediction reaches beyond what has been measured; its interval is wide.",
}
# An interval that is wider by less is as wide, for people.
CLEARLY: Final = 1.1
TUNINGS: Final = {"pretrain": "training from scratch", "full": "fine-tuning of all weights",
                  "lora": "LoRA fine-tuning", "qlora": "QLoRA fine-tuning"}  # fmt: skip


def money(estimate: Estimate) -> tuple[str, str]:
    """Return an amount and its bounds."""
    return usd(estimate.value), f"{usd(estimate.low)} to {usd(estimate.high)}"


def time(estimate: Estimate) -> tuple[str, str]:
    """Return hours and their bounds."""
    ends = (hours(bound, like=estimate.value) for bound in (estimate.low, estimate.high))
    return f"{hours(estimate.value)}{NBSP}h", f"{interval(*ends)}{NBSP}h"


def is_lower_bound(plan: Plan) -> bool:
    """Return whether nothing is known of the interruptions, so that more may be added."""
    return plan.interruptions is not None and not plan.interruptions.known


def place(plan: Plan) -> str:
    """Return where the machines are and how they are bought."""
    group = plan.cluster.groups[0]
    where = f"{CLOUDS.get(group.cloud, group.cloud)} {group.region}".strip()
    return f"{where}, {plan.offer.market.replace('_', ' ')}"


def job_pairs(workload: Workload) -> Pairs:
    """Return what is trained."""
    model = workload.model
    amount = f"{count(workload.samples)} samples"
    if model.family in ("language", "encoder", "moe"):
        amount = f"{count(workload.tokens)} tokens, {model.tokens_per_sample:,} a sample"
    elif model.resolution:
        amount += f" of {model.resolution:,} pixels a side"
    return (
        ("Model", f"{model.name}, {count(model.params)} parameters"),
        ("Task", f"{TUNINGS[workload.tuning]}, {workload.precision}"),
        ("Amount", amount),
        ("Steps", f"{workload.steps:,} of {workload.global_batch:,} samples"),
    )


def limit_pairs(limits: Mapping[str, Any], options: Mapping[str, Any]) -> Pairs:
    """Return the limits that were set, as people say them; what this version does not know too."""
    found = []
    deadline, chance = limits.get("deadline_h"), limits.get("chance")
    if deadline is not None:
        sure = "" if chance is None else f", {percent(chance)} sure"
        found.append(("Finish within", f"{hours(deadline)}{NBSP}h{sure}"))
    for name, value in {**limits, **options}.items():
        if name in ("deadline_h", "chance") or value in (None, False, 0, "", [], {}):
            continue
        label = LIMITS.get(name, name.replace("_", " ").capitalize())
        found.append((label, _said(name, value)))
    return tuple(found)


def _said(name: str, value: object) -> str:
    if name == "budget_usd" and isinstance(value, int | float):
        return usd(value)
    if name in SHARES and isinstance(value, int | float):
        return f"{value:.0%}".replace("%", f"{NBSP}%")
    if isinstance(value, list):
        return ", ".join(_word(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{_word(key)} {_word(one)}" for key, one in value.items())
    return _word(value)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.15g}"
    said = str(value)
    return CLOUDS.get(said, said.replace("_", "-"))


def cents(amount_usd: float) -> str:
    """Write an amount as on a bill.

    >>> cents(1234.5), cents(0.004)
    ('$1,234.50', 'under $0.01')
    """
    return f"${amount_usd:,.2f}" if amount_usd >= 0.005 else "under $0.01"


def bill_pairs(bill: Bill) -> Pairs:
    """Return the parts of the bill that are not nothing."""
    return tuple((PARTS[name], cents(value)) for name, value in bill.parts_usd.items() if value)


def against(other: Plan, chosen: Plan) -> str:
    """Return what the other plan would change, what speaks against it first."""
    dearer = other.cost_usd.value - chosen.cost_usd.value
    later = other.hours.value - chosen.hours.value
    amount, hour = usd(abs(dearer)), f"{hours(abs(later))}{NBSP}h"
    worse = [f"{amount} more"] * (dearer > 0) + [f"{hour} longer"] * (later > 0)
    better = [f"{amount} less"] * (dearer < 0) + [f"{hour} sooner"] * (later < 0)
    a, b = chosen.deadline_probability, other.deadline_probability
    if a is not None and b is not None and percent(a) != percent(b):
        (worse if b < a else better).append(f"{percent(b)} in time")
    wider = _spread(other.cost_usd) / _spread(chosen.cost_usd)
    if wider > CLEARLY:
        worse.append("less sure")
    if wider < 1 / CLEARLY:
        better.append("surer")
    if other.offer.market == "spot" and chosen.offer.market != "spot":
        worse.append("can be interrupted")
    if chosen.offer.market == "spot" and other.offer.market != "spot":
        better.append("cannot be interrupted")
    if not better:
        return ", ".join(worse) or "the same cost and time"
    return f"{', '.join(worse)}; but {', '.join(better)}" if worse else ", ".join(better)


def _spread(estimate: Estimate) -> float:
    """Return the upper over the lower bound."""
    return estimate.high / estimate.low if estimate.low else 1.0


def overlap(a: Estimate, b: Estimate) -> bool:
    """Return whether the intervals have values in common."""
    return a.low <= b.high and b.low <= a.high
