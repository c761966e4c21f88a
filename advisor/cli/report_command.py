"""The command ``report``: one page about a plan for the one who pays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.advice.sharing import FORMATS, write_report
from advisor.cli.commands import loaded_catalog
from advisor.cli.files import check_place, write_bytes
from advisor.cli.plan_source import add_source, proposal_of
from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def add_commands(actions: Any, add_question: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the command to the parser; `add_question` adds a job and its limits."""
    command = actions.add_parser("report", help="one page about a plan, as HTML or PDF")
    command.set_defaults(run=report)
    command.add_argument("-o", "--output", type=Path, metavar="FILE", required=True,
                         help="report.html or report.pdf")  # fmt: skip
    add_source(command, add_question)


def report(options: argparse.Namespace) -> int:
    """Write the report.

    Raises
    ------
    InvalidInputError
        If the name of the file says no format, or there is no plan.
    """
    kind = options.output.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InvalidInputError(
            f"“{options.output.name}” is no HTML and no PDF.", where="--output",
            todo="End the name with .html or .pdf.",
        )  # fmt: skip
    check_place(options.output)
    proposal = proposal_of(options, loaded_catalog())
    write_bytes(options.output, write_report(proposal, kind))
    print(f"Wrote {options.output}: plan {proposal.plan.id}.")  # noqa: T201 - this is the output
    return 0
