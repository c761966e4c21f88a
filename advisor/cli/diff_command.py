"""The command ``diff``: what changed between two plans, and what that did to the bill."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table

from advisor.advice import Engine
from advisor.advice.attribution import difference
from advisor.advice.picks import PICKS
from advisor.cli.commands import loaded_catalog
from advisor.cli.plan_source import find_proposal
from advisor.cli.text import plain
from advisor.core.units import usd

if TYPE_CHECKING:
    import argparse

    from advisor.domain import PlanDifference

CAUSES: Final = {"job": "job", "limits": "limits", "prices": "prices", "predictor": "predictor",
                 "plan": "plan", "rest": "not told apart"}  # fmt: skip


def add_commands(actions: Any) -> None:
    """Add the command to the parser."""
    command = actions.add_parser("diff", help="what changed between two plans, and its cost")
    command.set_defaults(run=diff)
    for name in ("before", "after"):
        command.add_argument(name, metavar=name.upper(),
                             help="JSON of a plan or advice, or id of a saved plan")  # fmt: skip
    command.add_argument("--pick", choices=PICKS, help="which plan, where both are advice")
    command.add_argument("--json", action="store_true", help="print JSON")


def diff(options: argparse.Namespace) -> int:
    """Compare two plans."""
    before, after = (find_proposal(one, options.pick) for one in (options.before, options.after))
    found = difference(before, after, Engine.open(loaded_catalog()))
    if options.json:
        print(json.dumps(found.to_dict(), indent=1, allow_nan=False))  # noqa: T201 - this is the output
    else:
        _show(found)
    return 0


def _show(found: PlanDifference) -> None:
    out = Console()
    if not found.changes:
        out.print(f"Nothing changed: {usd(found.after_usd)}.")
        return
    out.print(f"Bill: {usd(found.before_usd)} → {usd(found.after_usd)}, {_signed(found.usd)}")
    if found.effects:
        table = Table("because of", "USD", "", box=None)
        table.columns[1].justify = "right"
        for effect in found.effects:
            table.add_row(CAUSES[effect.cause], _signed(effect.usd), plain(effect.reason))
        out.print(table)
    table = Table("changed", "what", "before", "after", box=None)
    for change in found.changes:
        cells = (change.name, change.before or "–", change.after or "–")
        table.add_row(change.cause, *(plain(cell) for cell in cells))
    out.print(table)
    for note in found.notes:
        out.print(plain(note))


def _signed(amount: float) -> str:
    return f"+{usd(amount)}" if amount > 0 else usd(amount)
