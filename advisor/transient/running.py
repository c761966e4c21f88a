"""A job that runs: what is left of it, the chance of its deadline, and when to leave spot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from scipy.special import ndtr, ndtri

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.transient.evaluate import evaluate
from advisor.transient.job import SpotJob
from advisor.transient.runs import Draws, Outcome

RUNS: Final = 20_000
FALL_BACK: Final = "uniform_progress"


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a job, as its machines are dealt with from now on.

    Parameters
    ----------
    stay : Outcome
        On spot to the end.
    fall_back : Outcome or None
        On spot while the deadline is safe, then on demand; None without a deadline or a price.
    demand_probability : float or None
        Chance of the deadline if it moves on demand at once.
    demand_usd : float or None
        Expected bill of that.
    switch_by_s : float or None
        From now [s]: the latest moment at which the work that is left today still gets done on
        demand by the deadline with the chance asked for; negative: it is past.
    """

    stay: Outcome
    fall_back: Outcome | None
    demand_probability: float | None
    demand_usd: float | None
    switch_by_s: float | None


def remaining(
    job: SpotJob, *, policy: str, chance: float, interval: str = "young", draws: Draws | None = None
) -> Remaining:
    """Simulate what is left.

    Parameters
    ----------
    job : SpotJob
        What is left: `work_s` of work, `deadline_s` from now, `running_s` the age of its machines.
    policy, interval : str
        What is done about revocations, and when checkpoints are written.
    chance : float
        How sure the deadline should be.

    Raises
    ------
    InvalidInputError
        If the chance is none.
    PredictionError
        If the job does not get ahead under the policy.
    """
    if not 0 < chance < 1:
        raise InvalidInputError(f"{chance!r} is not a chance.", where="chance",
                                todo="Give 0.5 to 0.99.")  # fmt: skip
    draws = draws or Draws(RUNS)
    stay = evaluate(job, policy, interval, draws)
    if stay.outcome is None:
        # The reason is the policy's own; the contract lets it be asked for runs all the same.
        raise InvalidInputError(f"{stay.reason}.", where=stay.label, todo="Choose another policy.")
    fall_back = evaluate(job, FALL_BACK, interval, draws).outcome
    limited = math.isfinite(job.deadline_s)
    demand = job.on_demand_usd_per_h
    return Remaining(
        stay=stay.outcome,
        fall_back=fall_back,
        demand_probability=_demand_probability(job) if limited and demand else None,
        demand_usd=_demand_usd(job) if demand else None,
        switch_by_s=switch_by_s(job, chance) if limited and demand else None,
    )


def switch_by_s(job: SpotJob, chance: float) -> float:
    """Return the latest moment from now to move on demand [s].

    As if nothing were done until then; every hour of work done moves it by about an hour.
    """
    worst = math.exp(job.work_log_sigma * float(ndtri(chance)))
    return job.deadline_s - _move_s(job) - job.work_s * worst


def without_interruption(job: SpotJob) -> float | None:
    """Chance of the deadline were no machine taken away: the upper bound where nothing is known."""
    if math.isinf(job.deadline_s):
        return None
    calm = replace(job, overheads=replace(job.overheads, start_s=0.0, load_s=0.0, checkpoint_s=0.0))
    return _demand_probability(calm)


def _move_s(job: SpotJob) -> float:
    """Time to write a checkpoint, start machines on demand and load it [s]."""
    over = job.overheads
    return over.checkpoint_s + over.start_s + over.load_s


def _demand_probability(job: SpotJob) -> float:
    left = job.deadline_s - _move_s(job)
    if left <= 0:
        return 0.0
    if job.work_log_sigma == 0:
        return float(job.work_s <= left)
    return float(ndtr(math.log(left / job.work_s) / job.work_log_sigma))


def _demand_usd(job: SpotJob) -> float:
    mean_s = job.work_s * math.exp(job.work_log_sigma**2 / 2) + _move_s(job)
    return mean_s * job.machines * (job.on_demand_usd_per_h or 0.0) / HOUR_S
