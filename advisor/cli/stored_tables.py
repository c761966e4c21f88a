"""Readable tables of saved plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from advisor.cli.tables import UNKNOWN_DATE, console, interval_of, right
from advisor.cli.text import plain
from advisor.core import units

if TYPE_CHECKING:
    from advisor.store import FinishedRun, SavedPlan


def show_plans(plans: list[SavedPlan]) -> None:
    """Print the plans, one a line."""
    if not plans:
        say("There are no saved plans. The app saves them: python -m advisor serve.")
        return
    table = Table("id", "name", "saved", "machines", "where", "market", "price dated", "USD",
                  "90 %", "h", "90 %", "runs", box=None)  # fmt: skip
    right(table, 7, 9, 11)
    for plan in plans:
        table.add_row(*map(plain, (
            plan.id, plan.name, f"{plan.created_at:%Y-%m-%d}", *_place(plan),
            plan.price_as_of or UNKNOWN_DATE,
            units.number(plan.cost_usd.value), interval_of(plan.cost_usd),
            units.hours(plan.hours.value), interval_of(plan.hours), len(plan.finished),
        )))  # fmt: skip
    console().print(table)


def show_plan(plan: SavedPlan) -> None:
    """Print one plan: what was asked, priced and predicted, and what runs of it took."""
    out = console()
    out.print(f"[bold]{plain(plan.name)}[/bold] [dim]{plain(plan.id)}, saved "
              f"{plan.created_at:%Y-%m-%d %H:%M} UTC[/dim]")  # fmt: skip
    if plan.job:
        out.print(plain(plan.job))
    out.print(plain(", ".join(_place(plan))))
    out.print(plain(f"USD {plan.usd_per_h:,.2f}/h a machine, {plan.price_source}, "
                     f"{plan.price_as_of or UNKNOWN_DATE}"))  # fmt: skip
    table = Table("", "predicted", "90 % interval", *(
        f"run of {run.recorded_at:%Y-%m-%d}" for run in plan.finished
    ), box=None)  # fmt: skip
    for name, estimate, field in (
        ("cost, USD", plan.cost_usd, "cost_usd"),
        ("time, h", plan.hours, "hours"),
        ("step, s", plan.step_time_s, "step_time_s"),
    ):
        measured = [_against(run, field, estimate.value) for run in plan.finished]
        value = units.hours if estimate.unit == "h" else units.number
        table.add_row(name, value(estimate.value), interval_of(estimate), *measured)
    out.print(table)
    for run in plan.finished:
        if run.note:
            out.print(f"[dim]{run.recorded_at:%Y-%m-%d}: {plain(run.note)}[/dim]")
    origin = (f"prediction: {plan.cost_usd.basis}; catalog {plan.catalog_hash[:12]}, "
              f"measured runs {plan.data_hash[:12]}, advisor {plan.advisor_version}")  # fmt: skip
    out.print(f"[dim]{plain(origin)}[/dim]")


def say(words: str, *, dim: bool = False) -> None:
    """Print a sentence, whatever signs of the user's stand in it."""
    console().print(plain(words), style="dim" if dim else None, soft_wrap=True)


def _place(plan: SavedPlan) -> tuple[str, str, str]:
    where = f"{plan.cloud} {plan.region}"
    return plan.machines, where, plan.market.replace("_", "-")


def _against(run: FinishedRun, field: str, predicted: float) -> str:
    """Return what was measured, and how far it is from the prediction."""
    measured: float | None = getattr(run, field)
    if measured is None:
        return units.number(None)
    off = f" ({100 * (measured / predicted - 1):+.0f} %)" if predicted else ""
    return f"{units.number(measured)}{off}"
