"""Readable tables of what the commands return."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table

from advisor.advice import terms
from advisor.advice.calibrated import doubts, sentence
from advisor.advice.infeasible import NAMES
from advisor.advice.interruptions import sentences
from advisor.advice.probe_words import advice_words, now_words
from advisor.cli.chosen import show_choice
from advisor.cli.explained import show_explanation
from advisor.cli.text import plain
from advisor.core import units
from advisor.core.units import NBSP

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pandas as pd

    from advisor.advice.currency import Currency
    from advisor.catalog import Catalog
    from advisor.domain import Advice, Estimate, Forecast, OwnRuns, Plan, Workload
    from advisor.search.constraints import Constraints

WIDTH: Final = 150
UNKNOWN_DATE: Final = "unknown"
MOST_RUNS_SHOWN: Final = 20
TITLES: Final = {
    "cheapest": "Cheapest", "fastest": "Fastest", "best_value": "Best value", "safest": "Safest",
}  # fmt: skip


def show_advice(advice: Advice, limits: Constraints) -> None:
    """Print the picks with their reasons, and what was searched."""
    out = console()
    out.print(_job_line(advice.workload))
    _show_caveats(out, advice.caveats)
    picks = Table("", "machines", "where", "market", "price dated", "USD", "90 %", "h", "90 %",
                  box=None)  # fmt: skip
    right(picks, 5, 7)
    if limits.deadline_h is not None:
        picks.add_column(f"in {units.hours(limits.deadline_h)}{NBSP}h", justify="right")
    if advice.current is not None:
        picks.add_row("[dim]Today[/dim]", *_plan_cells(advice.current, limits))
    for name, pick in advice.picks.items():
        picks.add_row(f"[bold]{TITLES[name]}[/bold]", *_plan_cells(pick.plan, limits))
    out.print(picks)
    _show_reasons(out, advice)
    if advice.probes is not None:
        out.print(f"{plain(now_words(advice.probes))} {plain(advice_words(advice.probes))}")
    show_own_runs(out, advice.own_runs)
    for name, choice in advice.choices.items():
        show_choice(out, choice, f"{TITLES[name]}, why")
    for name, explained in advice.explanations.items():
        show_explanation(out, explained, f"{TITLES[name]}, explained")
    _show_account(out, advice)


def show_currency(advice: Advice, currency: Currency) -> None:
    """Print the costs of the picks in the user's currency, and its rate."""
    said = ", ".join(
        f"{TITLES[name].lower()} {currency.words(pick.plan.cost_usd.value)}"
        for name, pick in advice.picks.items()
    )
    console().print(f"In {currency.code}: {said} [dim](your rate: {currency.rate_words})[/dim]")


def _show_reasons(out: Console, advice: Advice) -> None:
    """Print why each plan was picked, what threatens it, and what is the user's own in it."""
    for name, pick in advice.picks.items():
        saving = "" if pick.saving_usd is None else f" Against today: {_saving(pick.saving_usd)}."
        out.print(f"[bold]{TITLES[name]}[/bold]: {plain(pick.reason)}{saving}")
        if pick.plan.interruptions is not None and pick.plan.interruptions.known:
            out.print(f"  [dim]{plain(sentences(pick.plan.interruptions))}[/dim]")
        for said in terms.sentences(pick.plan):
            out.print(f"  {plain(said)}")
        if pick.plan.calibrated is not None:
            out.print(f"  {plain(sentence(pick.plan.calibrated, pick.plan.hours.value))}")


def show_own_runs(out: Console, runs: OwnRuns | None) -> None:
    """Print the user's runs that calibrated the predictions, and those that could not."""
    if runs is None:
        return
    out.print("[bold]Calibrated by your runs[/bold]")
    table = Table("run", "batch", "measured step", "predicted without", box=None)
    right(table, 1, 2, 3)
    for run in runs.used[:MOST_RUNS_SHOWN]:
        measured, predicted = units.duration(run.measured_s), units.duration(run.predicted_s)
        table.add_row(plain(run), f"{run.global_batch:,g}", measured, predicted)
    out.print(table)
    if len(runs.used) > MOST_RUNS_SHOWN:
        out.print(f"[dim]and {len(runs.used) - MOST_RUNS_SHOWN:,} more[/dim]")
    for doubt in doubts(runs):
        out.print(plain(doubt), style="yellow")
    for unused in runs.unused:
        out.print(f"[dim]not used: {plain(unused.name)}: {plain(unused.reason)}[/dim]")


def _show_account(out: Console, advice: Advice) -> None:
    """Print what was searched, and what the numbers do not contain."""
    left = ", ".join(
        f"{NAMES.get(name, name.replace('_', ' '))} {count:,}"
        for name, count in advice.removed_by.items()
        if count
    )
    out.print(f"[dim]{advice.candidates_considered:,} candidates; removed by {plain(left)}.[/dim]")
    newest = plain(advice.catalog["as_of"] or UNKNOWN_DATE)
    missing = dict.fromkeys(
        words for pick in advice.picks.values() for words in pick.plan.bill.left_out
    )
    out.print(f"[dim]Newest price in the catalog: {newest}. Not contained in every bill: "
              f"{plain(', '.join(missing))}.[/dim]")  # fmt: skip
    if any(p.plan.interruptions and not p.plan.interruptions.known for p in advice.picks.values()):
        out.print("[dim]Where nothing is known of interruptions, allow for them with "
                  "--retry-allowance.[/dim]")  # fmt: skip


def _saving(value_usd: float) -> str:
    word = "less" if value_usd >= 0 else "more"
    return f"{units.usd(abs(value_usd))} {word}"


def _plan_cells(plan: Plan, limits: Constraints) -> list[str]:
    group = plan.cluster.groups[0]
    # Where nothing is known of interruptions these are bounds from below.
    bound = "≥ " if plan.interruptions is not None and not plan.interruptions.known else ""
    cells = [
        plain(f"{group.count} × {group.instance_type}"),
        plain(f"{group.cloud} {group.region}"),
        plain(plan.offer.market.replace("_", "-")),
        str(plan.offer.as_of or UNKNOWN_DATE),
        f"{bound}{units.number(plan.cost_usd.value)}",
        interval_of(plan.cost_usd),
        f"{bound}{units.hours(plan.hours.value)}",
        interval_of(plan.hours),
    ]
    if limits.deadline_h is not None:
        cells.append(units.percent(plan.deadline_probability))
    return cells


def interval_of(estimate: Estimate) -> str:
    """Return the bounds of an estimate."""
    if estimate.unit == "h":
        bounds = (units.hours(b, like=estimate.value) for b in (estimate.low, estimate.high))
    else:
        bounds = (units.number(bound) for bound in (estimate.low, estimate.high))
    return units.interval(*bounds)


def _job_line(workload: Workload) -> str:
    model = workload.model
    assumed = f" [dim](assumed: {plain(', '.join(workload.assumptions))})[/dim]"
    return (
        f"[bold]{plain(model.name)}[/bold], {units.count(model.params)} parameters, "
        f"{workload.steps:,} steps of {workload.global_batch:,}, {plain(workload.precision)}"
        f"{assumed if workload.assumptions else ''}"
    )


def _show_caveats(out: Console, caveats: tuple[str, ...]) -> None:
    for caveat in caveats:
        out.print(f"[yellow]caution: {plain(caveat)}[/yellow]")


def show_forecast(forecast: Forecast, workload: Workload) -> None:
    """Print step, hours, memory and the layout."""
    out = console()
    out.print(_job_line(workload))
    _show_caveats(out, forecast.caveats)
    machine = forecast.instance_type or "machine"
    out.print(plain(f"{forecast.machines:,} × {machine}: {forecast.accelerators:,g} × "
                     f"{forecast.accelerator}; {forecast.layout}"))  # fmt: skip
    table = Table("", "predicted", "90 % interval", box=None)
    for name, estimate in (
        ("step, s", forecast.step_time_s),
        ("training, h", forecast.hours),
        ("accelerator-hours", forecast.accelerator_hours),
    ):
        bounds = units.interval(units.number(estimate.low), units.number(estimate.high))
        table.add_row(name, units.number(estimate.value), bounds)
    out.print(table)
    memory = forecast.memory
    out.print(
        f"memory {units.data_size(memory.used_bytes)} of "
        f"{units.data_size(memory.capacity_bytes)}, out of memory "
        f"{units.percent(memory.out_of_memory_probability)}; MFU {units.percent(forecast.mfu)}; "
        f"prediction: {plain(forecast.step_time_s.basis)}"
    )
    if forecast.calibrated is not None:
        out.print(plain(sentence(forecast.calibrated, forecast.hours.value)))
    show_own_runs(out, forecast.own_runs)
    if forecast.explanation is not None:
        show_explanation(out, forecast.explanation, "Explained")
    for assumption in forecast.assumptions:
        out.print(f"[dim]assumed: {plain(assumption)}[/dim]")


def show_offers(offers: pd.DataFrame, limit: int, catalog: Catalog) -> None:
    """Print the first offers."""
    table = Table("cloud", "machine", "region", "market", "accelerator", "USD/h",
                  "USD/accelerator-h", "as of", "flags", box=None)  # fmt: skip
    right(table, 5, 6)
    shown = offers.head(limit).astype({"market": str, "flags": str})
    shown["as_of"] = shown["as_of"].dt.strftime("%Y-%m-%d").fillna(UNKNOWN_DATE)
    shown["device"] = shown["accelerators"].map("{:g} × ".format) + shown["accelerator"].astype(str)
    shown["market"] = shown["market"].str.replace("_", "-")
    shown["flags"] = [_flags(offer) for offer in shown.to_dict("records")]
    shown["usd_per_h"] = shown["usd_per_h"].map("{:,.2f}".format)
    shown["usd_per_accelerator_h"] = shown["usd_per_accelerator_h"].map("{:,.3f}".format)
    names = ["cloud", "instance_type", "region", "market", "device", "usd_per_h",
             "usd_per_accelerator_h", "as_of", "flags"]  # fmt: skip
    for cells in shown[names].astype(str).to_numpy().tolist():
        table.add_row(*map(plain, cells))
    out = console()
    out.print(table)
    newest = catalog.as_of or UNKNOWN_DATE
    out.print(f"[dim]{len(shown):,} of {len(offers):,} prices, newest of {newest}.[/dim]")


def _flags(offer: dict[Hashable, Any]) -> str:
    """Return how far an offer is trusted, and what the user's lists say of it."""
    words = offer["flags"].replace("_", " ").split(",") if offer["flags"] else []
    if offer["discount_percent"]:
        words.append(f"your discount {offer['discount_percent']:g} %")
    if not math.isnan(offer["available"]):
        words.append(f"{offer['available']:,.0f} available")
    return ", ".join(words)


def console() -> Console:
    """Return a console that does not fold tables where the output is no terminal."""
    found = Console(emoji=False)  # “:x:” in a name stays what it is
    return found if found.is_terminal else Console(width=WIDTH, emoji=False)


def right(table: Table, *columns: int) -> None:
    """Align columns of numbers."""
    for column in columns:
        table.columns[column].justify = "right"
