"""The command ``trace``: what traces and logs say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cli import probe_command, trace_tables
from advisor.cli.text import printable
from advisor.cli.trace_findings import show_findings
from advisor.traces import Result, read_runs

if TYPE_CHECKING:
    import argparse

DESCRIPTION = (
    "Read a trace or log; its format is told by its content. The files of a directory or archive "
    "that fit together (the ranks of a job, or a log beside a trace of it) are one run; files that "
    "do not are runs of their own. With --json one run gives one object and several give a list; "
    "--job and --each ask for one or the other. What is not told is null. Files that cannot be "
    "read are named, and the others are read."
)


def add_commands(actions: Any) -> None:
    """Add the command, and the one that writes what to measure with."""
    probe_command.add_commands(actions)
    command = actions.add_parser("trace", help="what a trace or log says", description=DESCRIPTION)
    command.set_defaults(run=trace)
    command.add_argument("path", type=Path, metavar="FILE|DIR|ARCHIVE")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--job", action="store_true",
                     help="the files are of one job, whether or not they look like it")  # fmt: skip
    how.add_argument("--each", action="store_true", help="every file is a run of its own")
    command.add_argument("--json", action="store_true", help="print JSON")


def trace(options: argparse.Namespace) -> int:
    """Read a file, or all files of a directory or archive.

    Raises
    ------
    TraceError
        If the file, or every file, cannot be read or is refused.
    """
    results = _results(options)
    found = [result.trace for result in results if result.trace is not None]
    if options.json:
        listed = [one.main_fields() for one in found]
        shown = listed if options.each or len(listed) > 1 else listed[0]
        print(json.dumps(shown, indent=1, allow_nan=False))  # noqa: T201 - this is the output
    else:
        trace_tables.show_traces(results)
        show_findings(results)
    return 0


def _results(options: argparse.Namespace) -> list[Result]:
    """Read what is asked for and name the bad files; the first is raised if all are bad."""
    as_one = True if options.job else False if options.each else None
    results = read_runs(options.path, as_one=as_one)
    bad = [(result.name, result.error) for result in results if result.error is not None]
    if len(bad) == len(results):
        _say_not_read(bad[1:])
        raise bad[0][1]
    _say_not_read(bad)
    return results


def _say_not_read(bad: list[tuple[str, Any]]) -> None:
    for name, error in bad:
        said = f"{name}: not read: {error.what} {error.todo}".strip()
        print(f"advisor: {printable(said)}", file=sys.stderr)  # noqa: T201 - this is the output
