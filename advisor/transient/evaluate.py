"""Evaluate a job under policies and checkpoint rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.core.errors import PredictionError
from advisor.transient.interval import INTERVALS, IntervalRule
from advisor.transient.policy import POLICIES, Policy
from advisor.transient.runs import Draws, Outcome, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.transient.job import SpotJob

RUNS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A policy with what comes of it; `reason` says why it does not apply."""

    policy: str
    label: str
    interval_s: float | None
    outcome: Outcome | None
    reason: str = ""


def evaluate(
    job: SpotJob,
    policy: str | Policy = "restart",
    interval: str | IntervalRule = "young",
    draws: Draws | None = None,
) -> Evaluated:
    """Simulate a job under one policy.

    Parameters
    ----------
    job : SpotJob
        The job.
    policy, interval : str or object
        Names in `POLICIES` and `INTERVALS`, or objects of those kinds.
    draws : Draws, optional
        By default 20,000 runs; give the same draws to plans that are compared.

    Raises
    ------
    UnknownNameError
        If there is no such policy or rule.
    PredictionError
        If the simulated job does not finish.
    """
    rule = INTERVALS[interval]() if isinstance(interval, str) else interval
    chosen = POLICIES[policy]() if isinstance(policy, str) else policy
    name = policy if isinstance(policy, str) else type(policy).__name__
    segments = job.segments(rule.interval_s(job))
    reason = chosen.applies(job, segments)
    if reason:
        return Evaluated(name, chosen.label, None, None, reason)
    runs = chosen.simulate(job, segments, draws or Draws(RUNS))
    return Evaluated(name, chosen.label, job.work_s / segments, outcome(job, runs))


def compare(
    job: SpotJob,
    policies: Iterable[str] | None = None,
    interval: str | IntervalRule = "young",
    draws: Draws | None = None,
) -> list[Evaluated]:
    """Simulate a job under several policies with common random numbers, cheapest first.

    Policies that do not apply come last, with their reason.
    """
    found = [_evaluated(job, name, interval, draws) for name in policies or POLICIES]
    return sorted(found, key=lambda one: (one.outcome is None, _mean_usd(one)))


def _evaluated(
    job: SpotJob, name: str, interval: str | IntervalRule, draws: Draws | None
) -> Evaluated:
    """Evaluate one policy; that it does not finish the job is its result, not that of all."""
    try:
        return evaluate(job, name, interval, draws)
    except PredictionError as error:
        return Evaluated(name, POLICIES[name]().label, None, None, error.what.rstrip("."))


def _mean_usd(one: Evaluated) -> float:
    return one.outcome.mean_usd if one.outcome else 0.0
