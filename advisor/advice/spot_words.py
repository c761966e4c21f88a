"""Spot plans and running jobs in words: on which data, what is saved, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.units import NBSP, duration, hours, interval, number, percent, usd
from advisor.transient import NO_DATA

if TYPE_CHECKING:
    from advisor.domain.spot import (
        LifetimeData,
        MoreMachines,
        PolicyOutcome,
        RunningForecast,
        SpotAdvice,
    )

BOUND_SHOWN: Final = f"{NO_DATA}: bound shown"


def data_words(advice: SpotAdvice) -> str:
    """Return on which data the lifetimes rest, or that there is none."""
    return NO_DATA.capitalize() + "." if advice.data is None else basis_words(advice.data)


def basis_words(data: LifetimeData) -> str:
    """Return the data behind a lifetime: what was counted, where, how many, when, by whom.

    >>> from advisor.domain.spot import LifetimeData
    >>> basis_words(LifetimeData(kind="place", accelerator="K80", region="us-west1", n=48,
    ...     year=2019, source="a study", words="48 K80 in us-west1, 2019: 11 revoked"))
    'Rests on: 48 K80 in us-west1, 2019: 11 revoked (GPU K80, us-west1, n = 48, 2019; a study).'
    """
    parts = [f"GPU {data.accelerator}" if data.accelerator else "no GPU told apart"]
    parts.append(data.region or "no region told apart")
    parts.append(f"n = {data.n:,}" if data.n else "n not published")
    if data.year:
        parts.append(str(data.year))
    source = f"; {data.source}" if data.source else ""
    return f"Rests on: {data.words} ({', '.join(parts)}{source})."


def count_words(more: MoreMachines) -> str:
    """Return what another number of machines takes, costs and reaches."""
    least = "at least " if more.bound else ""
    said = (
        f"{more.machines} machine{'s' * (more.machines > 1)}: {least}{hours(more.hours)}{NBSP}h, "
        f"{least}{usd(more.cost_usd)}"
    )
    if more.deadline_probability is None:
        return said
    most = "at most " if more.bound else ""
    return f"{said}, {most}{percent(more.deadline_probability)} within the deadline"


def policy_saving(one: PolicyOutcome) -> str:
    """Return what a policy saves against on demand with its interval, or nothing."""
    if one.saving_share is None or one.saving_share_low is None or one.saving_share_high is None:
        return ""
    bounds = interval(_percent(one.saving_share_low), _percent(one.saving_share_high))
    return f"{_percent(one.saving_share)}{NBSP}% ({bounds})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}".replace("-0", "0")


def running_lines(forecast: RunningForecast) -> list[str]:
    """Return what is known of a running job, one fact a line."""
    one = forecast
    step, left, bill = one.step_time_s, one.remaining_h, one.remaining_usd
    bounds = interval(*(hours(b, like=left.value) for b in (left.low, left.high)))
    least = "at least " if one.bound else ""
    done = (
        f"{one.steps_done:,} of {one.steps:,} steps after {hours(one.elapsed_h)}{NBSP}h, "
        f"{one.restarts} restart{'s' * (one.restarts != 1)}; a step takes {duration(step.value)} "
        f"({interval(duration(step.low), duration(step.high))})."
    )
    rest = (
        f"Left: {least}{hours(left.value)}{NBSP}h ({bounds}) and {least}{usd(bill.value)} "
        f"({interval(number(bill.low), number(bill.high))})."
    )
    lines = [done, rest]
    if one.predicted_step_s is not None:
        said = one.predicted_step_s
        lines.append(
            f"Predicted step: {duration(said.value)} "
            f"({interval(duration(said.low), duration(said.high))})."
        )
    if one.deadline_left_h is not None:
        lines.append(_deadline_line(one))
    if one.data is not None:
        lines.append(basis_words(one.data))
    elif one.bound:
        lines.append(f"{BOUND_SHOWN[:1].upper()}{BOUND_SHOWN[1:]}.")
    return lines


def _deadline_line(one: RunningForecast) -> str:
    most = "at most " if one.bound else ""
    said = (
        f"{hours(one.deadline_left_h)}{NBSP}h to the deadline: "
        f"{most}{percent(one.deadline_probability)} as it runs"
    )
    if one.fall_back_probability is not None and not one.bound:
        said += f", {percent(one.fall_back_probability)} falling back ({usd(one.fall_back_usd)})"
    if one.on_demand_probability is not None:
        said += f", {percent(one.on_demand_probability)} on demand now ({usd(one.on_demand_usd)})"
    return f"{said}."
