"""Plans on spot machines and running jobs, as the Python API asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.advice.job_line import parse_job
from advisor.advice.opened import catalog_of, engine_of
from advisor.advice.running import Run, running_forecast
from advisor.advice.spot import spot_advice
from advisor.advice.spot_question import named_plan, spot_options
from advisor.core.errors import InvalidInputError
from advisor.search.constraints import DEFAULT_CHANCE, Constraints
from advisor.traces.progress import read_progress

if TYPE_CHECKING:
    import os

    from advisor.advice.engine import Engine
    from advisor.domain.spot import RunningForecast, SpotAdvice

    File = str | os.PathLike[str]


def spot(
    job: str,
    *,
    machines: str,
    region: str = "",
    deadline_h: float | None = None,
    budget_usd: float | None = None,
    chance: float = DEFAULT_CHANCE,
    interval_h: float | None = None,
    history: File | None = None,
    prices: File | None = None,
    ceiling_usd: float | None = None,
    samples_factor: float = 1.0,
    wait_h: float = 0.0,
    engine: Engine | None = None,
) -> SpotAdvice:
    """Compare the policies of a plan on spot machines.

    Parameters
    ----------
    job : str
        The job in one line: ``"ResNet-50, 90 epochs, batch 256"``.
    machines, region : str
        ``"4 x g4dn.12xlarge"``; without a region the cheapest.
    deadline_h, budget_usd : float, optional
        Limits [h], [USD]; their chances are given.
    chance : float
        How sure to be of the deadline.
    interval_h : float, optional
        Work between checkpoints [h]; by default Young's rule.
    history : path, optional
        CSV of your own machines: start, stop (empty: still running), revoked.
    prices : path, optional
        CSV of the price of one machine: time, usd_per_h.
    ceiling_usd : float, optional
        Price above which machines are given back [USD/h].
    samples_factor : float
        Samples that asynchronous workers need for the same accuracy, in those of one.
    wait_h : float
        After a revocation no machine can be had for so long [h].
    engine : Engine, optional
        By default that of this process.

    Returns
    -------
    SpotAdvice
        Policies cheapest first, the data behind them, other numbers of machines; without data of
        the market the bound alone.

    Raises
    ------
    InvalidInputError
        If a name, number or file cannot be used.
    NoFeasiblePlanError
        If the job does not run on the machines.
    """
    options = spot_options(
        interval_h=interval_h,
        history=_text(history, "history"),
        prices=_text(prices, "prices"),
        ceiling_usd=ceiling_usd,
        samples_factor=samples_factor,
        wait_h=wait_h,
    )
    limits = Constraints(deadline_h=deadline_h, budget_usd=budget_usd, chance=chance)
    workload = parse_job(job).job.workload()
    opened = engine_of(engine, catalog_of(engine))
    evaluated, row = named_plan(machines, region, "spot", workload, opened)
    return spot_advice(evaluated, row, opened.catalog, limits, options)


def running(
    log: File,
    job: str,
    *,
    machines: str,
    region: str = "",
    market: str = "spot",
    deadline_h: float | None = None,
    chance: float = DEFAULT_CHANCE,
    policy: str = "restart",
    machines_age_h: float | None = None,
    machines_left: int | None = None,
    slowest_ratio: float | None = None,
    servers: int = 0,
    alone_step_s: float | None = None,
    history: File | None = None,
    engine: Engine | None = None,
) -> RunningForecast:
    """Forecast what is left of a job that runs, from its log so far.

    Parameters
    ----------
    log : path
        Lines with date, time and step, or a CSV with step and elapsed_s (and workers). Read again
        later it gives a new forecast.
    job, machines, region, history, engine
        As for `spot`.
    market : str
        ``"spot"`` or ``"on-demand"``: where it runs.
    deadline_h : float, optional
        From the first line of the log [h].
    chance, policy, machines_age_h, machines_left, slowest_ratio, servers, alone_step_s
        As in `advisor.advice.running.Run`.

    Returns
    -------
    RunningForecast
        Time and bill that are left, the chance of the deadline, the latest moment to switch to on
        demand, what to do, and why it is slow where it is.

    Raises
    ------
    InvalidInputError, TraceError
        If a name, number or file cannot be used.
    """
    text = _text(log, "log") or ""
    progress = read_progress(text, Path(log).name)
    known = spot_options(history=_text(history, "history"))
    run = Run(
        policy=policy,
        deadline_h=deadline_h,
        chance=chance,
        machines_age_h=machines_age_h,
        machines_left=machines_left,
        slowest_ratio=slowest_ratio,
        servers=servers,
        alone_step_s=alone_step_s,
        options=known,
    )
    if market not in ("spot", "on-demand", "on_demand"):
        raise InvalidInputError(
            f"“{market}” is no market.", where="market", todo="Give spot or on-demand."
        )
    workload = parse_job(job).job.workload()
    opened = engine_of(engine, catalog_of(engine))
    evaluated, row = named_plan(machines, region, market.replace("-", "_"), workload, opened)
    return running_forecast(progress, evaluated, row, opened.catalog, run)


def _text(path: File | None, where: str) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be read ({error.strerror}).", where=where,
            todo="Give the path of a file.",
        ) from error  # fmt: skip
