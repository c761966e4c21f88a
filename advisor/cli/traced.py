"""The command ``trace``: what traces and logs say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cli import probe_command, trace_tables
from advisor.cli.text import printable
from advisor.cli.trace_findings import show_findings
from advisor.traces import Result, read, read_directory, read_many
from advisor.traces.archives import files_of
from advisor.traces.limits import DEFAULT_LIMITS
from advisor.traces.trace import MAIN_KEYS

if TYPE_CHECKING:
    import argparse

    from advisor.traces import Trace

DESCRIPTION = (
    "Read a trace or log; its format is told by its content. A file, an archive or, with --job, a "
    "directory is one run; a directory is otherwise one run per file. With --json a file gives "
    "one object and a directory a list; what is not told is null. Files of a directory that "
    "cannot be read are named, and the others are read."
)


def add_commands(actions: Any) -> None:
    """Add the command, and the one that writes what to measure with."""
    probe_command.add_commands(actions)
    command = actions.add_parser("trace", help="what a trace or log says", description=DESCRIPTION)
    command.set_defaults(run=trace)
    command.add_argument("path", type=Path, metavar="FILE|DIR")
    command.add_argument("--job", action="store_true",
                         help="the files of a directory are the ranks of one job")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def trace(options: argparse.Namespace) -> int:
    """Read a file, or all files of a directory.

    Raises
    ------
    TraceError
        If the file, or every file, cannot be read or is refused.
    """
    path: Path = options.path
    if not path.is_dir():
        results = [Result(path.name, trace=read(path))]
    elif options.job:
        results = [Result(path.name, trace=read_directory(path))]
    else:
        results = _read_each(path)
    found = [result.trace for result in results if result.trace is not None]
    if options.json:
        listed = [_main_keys(one) for one in found]
        shown = listed if path.is_dir() else listed[0]
        print(json.dumps(shown, indent=1, allow_nan=False))  # noqa: T201 - this is the output
    else:
        trace_tables.show_traces(results)
        show_findings(results)
    return 0


def _read_each(folder: Path) -> list[Result]:
    """Read the files of a directory and name the bad ones; the first is raised if all are bad."""
    files = files_of(folder, DEFAULT_LIMITS)
    results = read_many((str(file.relative_to(folder)), file) for file in files)
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


def _main_keys(one: Trace) -> dict[str, Any]:
    fields = one.to_dict()
    return {key: fields[key] for key in MAIN_KEYS}
