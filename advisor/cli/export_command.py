"""The command ``export``: a plan as a file of another tool."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from advisor.advice.exporter import EXPORTERS, export, launch_of, possible
from advisor.advice.launch import DEFAULT_COMMAND
from advisor.advice.quoting import words_of
from advisor.cli.commands import loaded_catalog
from advisor.cli.files import check_place, write_text
from advisor.cli.plan_source import add_source, proposal_of
from advisor.cli.text import plain, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.advice.launch import Launch


def add_commands(actions: Any, add_question: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the command to the parser; `add_question` adds a job and its limits."""
    command = actions.add_parser("export", help="a plan as a file of another tool: SkyPilot, …")
    command.set_defaults(run=export_plan)
    command.add_argument("--to", metavar="TOOL", choices=list(EXPORTERS),
                         help=f"{', '.join(EXPORTERS)}; without it, say which of them can take "
                         "the plan, and why others cannot")  # fmt: skip
    command.add_argument("-o", "--output", type=Path, metavar="FILE",
                         help="where to write it (default: standard output)")  # fmt: skip
    command.add_argument("--command", metavar="COMMAND", default=" ".join(DEFAULT_COMMAND),
                         help="your training script and its arguments")  # fmt: skip
    add_source(command, add_question)


def export_plan(options: argparse.Namespace) -> int:
    """Write the plan for a tool, or list the tools that can take it."""
    words = words_of(options.command, where="--command")
    if options.output:
        check_place(options.output)
    catalog = loaded_catalog()
    launch = launch_of(proposal_of(options, catalog), catalog, words)
    if options.to is None:
        return _list(launch, as_json=options.json)
    made = export(options.to, launch)
    if options.output:
        write_text(options.output, made.text)
        made = dataclasses.replace(made, use=made.use.replace(made.file_name, str(options.output)))
    if options.json:
        print(json.dumps(dataclasses.asdict(made), indent=1))  # noqa: T201 - this is the output
        return 0
    if not options.output:
        print(made.text, end="")  # noqa: T201 - this is the output
    said = f"plan {launch.plan.id}: {made.use}"
    print(f"advisor: {printable(said)}", file=sys.stderr)  # noqa: T201 - beside the output
    return 0


def _list(launch: Launch, *, as_json: bool) -> int:
    reasons = possible(launch)
    if as_json:
        print(json.dumps({"plan_id": launch.plan.id, "refused": reasons}, indent=1))  # noqa: T201 - this is the output
        return 0
    table = Table("--to", "tool", "takes this plan", box=None)
    for name, reason in reasons.items():
        table.add_row(name, EXPORTERS[name].label, plain(f"no: {reason}" if reason else "yes"))
    out = Console()
    out.print(f"Plan {launch.plan.id}: {plain(launch.plan.cluster)}")
    out.print(table)
    return 0
