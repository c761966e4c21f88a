"""A job that runs, from its log: what is left, the chance of its deadline, when to leave spot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scipy.special import ndtri

from advisor.advice.running_words import advice_words
from advisor.advice.slow_words import slow_job
from advisor.advice.spot_job import USUAL, SpotOptions, data_of, known_of, spot_job
from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S, hours
from advisor.domain import Estimate
from advisor.domain.spot import RunningForecast
from advisor.search.constraints import DEFAULT_CHANCE, Constraints
from advisor.transient.lifetime import Exponential
from advisor.transient.markets import KnownLifetime, LifetimeBasis
from advisor.transient.pace import pace_of
from advisor.transient.running import remaining, without_interruption
from advisor.transient.slowdown import Facts, slowdown

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.search.search import Evaluated
    from advisor.traces.progress import Progress
    from advisor.transient import SpotJob
    from advisor.transient.pace import Pace
    from advisor.transient.running import Remaining

LEVEL: Final = 0.9
NEVER: Final = KnownLifetime(
    Exponential(rate_per_s=0.0),
    0.0,
    LifetimeBasis("given", "", "", 0, 0, "", "machines that are never taken away"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is known of a running job beside its log.

    Attributes
    ----------
    policy : str
        What is done about a revocation, a name in `POLICIES`.
    deadline_h : float or None
        From the first line of the log [h].
    chance : float
        How sure the deadline should be.
    machines_age_h : float or None
        Age of the youngest machine [h]; None: the time since the last restart in the log.
    machines_left : int or None
        Machines that work; None: as the log says, or all.
    slowest_ratio : float or None
        Step of the slowest machine in that of the middle one, where a trace tells it.
    servers, alone_step_s
        Parameter servers, and the step of one worker alone [s]; see `Facts`.
    options : SpotOptions
        Checkpoint interval, own history and wait after a revocation.
    """

    policy: str = "restart"
    deadline_h: float | None = None
    chance: float = DEFAULT_CHANCE
    machines_age_h: float | None = None
    machines_left: int | None = None
    slowest_ratio: float | None = None
    servers: int = 0
    alone_step_s: float | None = None
    options: SpotOptions = USUAL


def running_forecast(
    progress: Progress, evaluated: Evaluated, row: int, catalog: Catalog, run: Run
) -> RunningForecast:
    """Forecast the rest of a job from its log; read again later, it is a new forecast.

    The speed is that of the log, drawn towards the prediction while the log says little.

    Parameters
    ----------
    progress : Progress
        The log so far.
    evaluated : Evaluated
        The job evaluated on its machines.
    row : int
        The row of its machines and market.
    catalog : Catalog
        Knows the published interruptions.
    run : Run
        What else is known.

    Raises
    ------
    InvalidInputError
        If the log goes beyond the job, or what is given is impossible.
    PredictionError
        If the log is too short, or the job does not get ahead.
    """
    steps = evaluated.workload.steps
    left = steps - progress.steps_done
    if left <= 0:
        raise InvalidInputError(
            f"{progress.steps_done:,.0f} of {steps:,} steps are done: the job is over.",
            where="running job",
            todo="Check the amount of training; steps of the log are optimizer steps.",
        )
    session = progress.session()
    measured = pace_of(session.step, session.elapsed_s)
    plan = evaluated.plans.iloc[row]
    predicted_s = float(evaluated.best.prediction.step_s[int(plan["entry"])])
    log_sigma = float(plan["log_sigma"])
    facts = _facts(progress, run, int(plan["machines"]))
    # A prediction for all machines says nothing of fewer of them.
    whole = facts.machines_left == facts.machines
    pace = measured.with_prior(predicted_s, log_sigma) if whole else measured
    known = run.options.history or (known_of(plan, catalog) if plan["market"] == "spot" else NEVER)
    job = _rest(evaluated, row, known or NEVER, run, pace, left, progress, facts)
    found = remaining(job, policy=run.policy, chance=run.chance)
    slow = slowdown(measured, predicted_s, log_sigma, facts)
    return _forecast(progress, evaluated, row, run, pace, job, known, found).model_copy(
        update={"slow": None if slow is None else slow_job(slow, facts, plan, catalog)}
    )


def _facts(progress: Progress, run: Run, machines: int) -> Facts:
    left = run.machines_left
    if left is None:
        left = progress.workers_left or machines
    return Facts(
        machines=machines, machines_left=left, slowest_ratio=run.slowest_ratio,
        alone_step_s=run.alone_step_s, servers=run.servers,
    )  # fmt: skip


def _rest(
    evaluated: Evaluated,
    row: int,
    known: KnownLifetime,
    run: Run,
    pace: Pace,
    left: float,
    progress: Progress,
    facts: Facts,
) -> SpotJob:
    """Return what is left as a job whose machines run already."""
    elapsed_s = float(progress.elapsed_s[-1])
    deadline_s = math.inf
    if run.deadline_h is not None:
        deadline_s = run.deadline_h * HOUR_S - elapsed_s
        if deadline_s <= 0:
            raise InvalidInputError(
                f"{hours(elapsed_s / HOUR_S)} h are past: the deadline is over.",
                where="deadline",
                todo="It counts from the first line of the log.",
            )
    age_s = elapsed_s - float(progress.session().elapsed_s[0])
    if run.machines_age_h is not None:
        age_s = run.machines_age_h * HOUR_S
    whole = spot_job(evaluated, row, known, Constraints(chance=run.chance), run.options)
    work_s = left * pace.step_s
    return replace(
        whole,
        work_s=work_s,
        machines=facts.machines_left,
        work_log_sigma=pace.log_sigma_over(work_s),
        deadline_s=deadline_s,
        running_s=age_s or 1.0,  # of one point each, of the same second
    )


def _forecast(
    progress: Progress,
    evaluated: Evaluated,
    row: int,
    run: Run,
    pace: Pace,
    job: SpotJob,
    known: KnownLifetime | None,
    found: Remaining,
) -> RunningForecast:
    plan = evaluated.plans.iloc[row]
    bound = known is None
    chance = without_interruption(job) if bound else found.stay.deadline_probability
    sigma = float(plan["log_sigma"])
    predicted_s = float(evaluated.best.prediction.step_s[int(plan["entry"])])
    stay, fall_back = found.stay, found.fall_back
    return RunningForecast(
        steps_done=int(progress.steps_done),
        steps=evaluated.workload.steps,
        elapsed_h=float(progress.elapsed_s[-1]) / HOUR_S,
        restarts=progress.restarts,
        step_time_s=_log_normal(pace.step_s, pace.log_sigma, "s", measured=True),
        predicted_step_s=_log_normal(predicted_s, sigma, "s", measured=False),
        remaining_h=_bounds(stay.mean_s / HOUR_S, stay.finish_s[0] / HOUR_S,
                            stay.finish_s[2] / HOUR_S, "h"),
        remaining_usd=_bounds(stay.mean_usd, stay.cost_usd[0], stay.cost_usd[2], "USD"),
        deadline_left_h=None if math.isinf(job.deadline_s) else job.deadline_s / HOUR_S,
        deadline_probability=chance,
        bound=bound,
        fall_back_probability=None if fall_back is None else fall_back.deadline_probability,
        fall_back_usd=None if fall_back is None else fall_back.mean_usd,
        on_demand_probability=found.demand_probability,
        on_demand_usd=found.demand_usd,
        switch_by_h=None if found.switch_by_s is None else found.switch_by_s / HOUR_S,
        advice=advice_words(found, chance, run.chance, spot=plan["market"] == "spot", bound=bound),
        data=data_of(known) if known is not NEVER else None,
    )  # fmt: skip


def _log_normal(value: float, log_sigma: float, unit: str, *, measured: bool) -> Estimate:
    half = math.exp(float(ndtri((1 + LEVEL) / 2)) * log_sigma)
    basis = "measured" if measured else "interpolated"
    return Estimate.make(
        value=value, low=value / half, high=value * half, unit=unit, level=LEVEL, basis=basis
    )


def _bounds(value: float, low: float, high: float, unit: str) -> Estimate:
    return Estimate.make(
        value=value, low=min(low, value), high=max(high, value), unit=unit, level=LEVEL,
        basis="measured",
    )  # fmt: skip
