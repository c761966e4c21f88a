"""Readable tables of plans on spot machines and of jobs that run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from advisor.advice.spot_words import (
    BOUND_SHOWN,
    count_words,
    data_words,
    policy_saving,
    running_lines,
)
from advisor.cli.tables import console, interval_of, right
from advisor.cli.text import plain
from advisor.core.units import HOUR_S, NBSP, duration, hours, number, percent, usd

if TYPE_CHECKING:
    from advisor.domain.spot import RunningForecast, SpotAdvice
    from advisor.search.constraints import Constraints


def show_spot(advice: SpotAdvice, limits: Constraints) -> None:
    """Print the policies, the data behind them, and other numbers of machines."""
    out = console()
    out.print(f"[bold]{plain(advice.machines)}[/bold], {plain(advice.region)}, spot at "
              f"{usd(advice.usd_per_h)}/h a machine")  # fmt: skip
    out.print(plain(data_words(advice)))
    if advice.data is None:
        out.print(f"{plain(BOUND_SHOWN)}: {hours(advice.least_h)}{NBSP}h and "
                  f"{usd(advice.least_usd)} at least.")  # fmt: skip
    if advice.policies:
        out.print(_policies(advice, limits))
    if advice.best_interval_h is not None:
        every = duration(advice.best_interval_h * HOUR_S)
        out.print(f"Best interval of a restart: {every}.")
    for more in advice.other_counts:
        out.print(f"[dim]{plain(count_words(more))}[/dim]")
    for caveat in advice.caveats:
        out.print(f"[yellow]caution: {plain(caveat)}[/yellow]")


def _policies(advice: SpotAdvice, limits: Constraints) -> Table:
    table = Table("policy", "mean USD", "90 %", "mean h", "90 %", "p90 USD", "interrupted",
                  "wasted", "saves", box=None)  # fmt: skip
    right(table, 1, 3, 5, 6, 7)
    if limits.deadline_h is not None:
        table.add_column(f"in {hours(limits.deadline_h)}{NBSP}h", justify="right")
    for one in advice.policies:
        if one.cost_usd is None or one.hours is None:
            table.add_row(plain(one.label), f"[dim]{plain(one.reason)}[/dim]")
            continue
        mark = "[bold]" if one.policy == advice.best else ""
        cells = [
            f"{mark}{plain(one.label)}",
            number(one.cost_usd.value), interval_of(one.cost_usd),
            hours(one.hours.value), interval_of(one.hours),
            number(one.p90_usd), number(one.interruptions, 2), percent(one.wasted_share),
            policy_saving(one),
        ]  # fmt: skip
        if limits.deadline_h is not None:
            cells.append(percent(one.deadline_probability))
        table.add_row(*cells)
    return table


def show_running(forecast: RunningForecast) -> None:
    """Print what is left of a job and what to do."""
    out = console()
    out.print(f"[bold]{plain(forecast.advice)}[/bold]")
    for line in running_lines(forecast):
        out.print(plain(line))
    if forecast.slow is not None:
        out.print(f"[yellow]slow: {plain(forecast.slow.cause_words)}[/yellow]")
        for advice in forecast.slow.advice:
            out.print(f"  {plain(advice)}")
