"""Which mix of unequal devices to use and how, and whether each kind is worth it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.errors import NoFeasiblePlanError
from advisor.core.units import HOUR_S, duration
from advisor.domain import Estimate
from advisor.domain.mixed import Inventory, MixedAdvice, MixPlan, NotUsed, Worth
from advisor.strategies import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.domain.mixed import DeviceGroup
    from advisor.strategies import Speeds

# Less than repeats of one measurement differ by.
LEAST_GAIN: Final = 0.02


def mixed_advice(speeds: Speeds, assumptions: tuple[str, ...] = ()) -> MixedAdvice:
    """Try every strategy on every mix of the kinds, also without each of them.

    Raises
    ------
    NoFeasiblePlanError
        If the job fits on no mix.
    """
    plans, reasons = [], {}
    for inventory in mixes(speeds.inventory):
        for name in STRATEGIES:
            found = _best(name, speeds.on(inventory))
            if isinstance(found, MixPlan):
                plans.append(found)
            elif inventory == speeds.inventory:
                reasons[name] = found
    if not plans:
        raise NoFeasiblePlanError(
            f"the job does not run on any mix of {speeds.inventory}.",
            todo="Add accelerators with more memory, or take a smaller model or batch.",
        )
    plans.sort(key=lambda plan: plan.step_time_s.value)
    return MixedAdvice(
        workload=speeds.workload,
        inventory=speeds.inventory,
        best=plans[0],
        plans=tuple(plans),
        worth=tuple(_worth(group, plans, speeds) for group in speeds.inventory.groups),
        not_used=tuple(
            NotUsed(strategy=name, title=STRATEGIES[name].title, reason=reason)
            for name, reason in reasons.items()
        ),
        assumptions=assumptions,
    )


def mixes(inventory: Inventory) -> Iterator[Inventory]:
    """Yield every choice of the kinds, the largest first."""
    for size in range(len(inventory.groups), 0, -1):
        for groups in combinations(inventory.groups, size):
            yield Inventory(groups=groups)


def _best(name: str, speeds: Speeds) -> MixPlan | str:
    """Return the fastest plan of a strategy, or why there is none."""
    strategy = STRATEGIES[name]()
    reason = strategy.applies(speeds.workload, speeds.inventory)
    if reason:
        return reason
    candidates = strategy.plans(speeds.workload, speeds.inventory)
    table = strategy.estimate(candidates, speeds).dropna(subset=["step_s"])
    if not len(table):
        return "it does not fit into the memory"
    row = table.sort_values("step_s", kind="stable").iloc[0].to_dict()
    step_s, factor = float(row["step_s"]), float(np.exp(row["log_half_width"]))
    predicted = factor > 1
    step = Estimate(
        value=step_s,
        low=step_s / factor,
        high=step_s * factor,
        unit="s",
        basis="extrapolated" if predicted else "calibrated",
    )
    hours = _times(step, speeds.workload.steps / HOUR_S, "h")
    rate = speeds.inventory.usd_per_h
    return MixPlan(
        strategy=name,
        title=strategy.title,
        label=strategy.label,
        paper=strategy.paper,
        inventory=speeds.inventory,
        step_time_s=step,
        samples_per_s=speeds.workload.global_batch / step_s,
        hours=hours,
        cost_usd=None if rate is None else _times(hours, rate, "USD"),
        parts=strategy.parts(row),
        shares=row["shares"],
        note=row["note"],
    )


def _times(estimate: Estimate, factor: float, unit: str) -> Estimate:
    scaled: Mapping[str, float] = {
        name: getattr(estimate, name) * factor for name in ("value", "low", "high")
    }
    return Estimate(**scaled, unit=unit, basis=estimate.basis)


def _worth(group: DeviceGroup, plans: list[MixPlan], speeds: Speeds) -> Worth:
    """Compare the best plan with a kind to the best one without; `plans` are sorted."""
    having = next((plan for plan in plans if group in plan.inventory.groups), None)
    lacking = next((plan for plan in plans if group not in plan.inventory.groups), None)
    if having is None:
        return Worth(group=group.name, verdict="of no use", reason="the job fits on no mix with it")
    if lacking is None:
        reason = "there is nothing else" if len(speeds.inventory.groups) == 1 else (
            "without it the job does not fit"
        )  # fmt: skip
        return Worth(group=group.name, verdict="needed", with_s=having.step_time_s.value,
                     reason=reason)  # fmt: skip
    gain = lacking.step_time_s.value / having.step_time_s.value - 1
    width = speeds.times[group.name].log_half_width
    bounds = sorted(_gain_if(having, lacking, speeds, group, np.exp(sign * width))
                    for sign in (-1, 1))  # fmt: skip
    pays = gain >= LEAST_GAIN
    said = (
        f"with it {duration(having.step_time_s.value)} a step, without it "
        f"{duration(lacking.step_time_s.value)}: {gain:+.1%} ({bounds[0]:+.1%} to {bounds[1]:+.1%})"
    )
    return Worth(
        group=group.name,
        verdict="worth it" if pays else "not worth it",
        with_s=having.step_time_s.value,
        without_s=lacking.step_time_s.value,
        gain=gain,
        gain_low=min(bounds[0], gain),
        gain_high=max(bounds[1], gain),
        with_usd=None if having.cost_usd is None else having.cost_usd.value,
        without_usd=None if lacking.cost_usd is None else lacking.cost_usd.value,
        reason=said,
    )


def _gain_if(
    having: MixPlan, lacking: MixPlan, speeds: Speeds, group: DeviceGroup, factor: float
) -> float:
    """Return the gain if one kind took so many times as long; all else errs together."""
    changed = speeds.scaled(group.name, factor).on(having.inventory)
    tried = (_best(name, changed) for name in STRATEGIES)
    steps = [plan.step_time_s.value for plan in tried if isinstance(plan, MixPlan)]
    return lacking.step_time_s.value / min(steps) - 1 if steps else -1.0
