"""The command ``sweep``: many jobs in many scenarios, the picks as one table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from advisor.advice import Engine
from advisor.cli import values
from advisor.cli.commands import loaded_catalog
from advisor.cli.text import plain, printable

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from advisor.advice.sweep import Progress

BAD_INPUT: Final = 2
SHOWN: Final = 10
DESCRIPTION: Final = (
    "JOBS is a CSV with a column “job” (a line as on the page) or “model” and an amount; limits "
    "may stand beside (deadline_h, budget_usd, clouds, …). A line that cannot be used is named in "
    "the table and stops no other. A sweep that was stopped goes on when it is started again."
)


def add_commands(actions: Any) -> None:
    """Add the command to the parser."""
    command = actions.add_parser("sweep", help="many jobs in many scenarios, as one table",
                                 description=DESCRIPTION)  # fmt: skip
    command.set_defaults(run=sweep)
    command.add_argument("jobs", type=Path, metavar="JOBS")
    command.add_argument("-o", "--output", type=Path, metavar="FILE", default=Path("sweep.parquet"),
                         help="Parquet (default %(default)s)")  # fmt: skip
    command.add_argument("--scenarios", type=Path, metavar="FILE",
                         help="CSV with “scenario” and limits; jobs are asked in each")  # fmt: skip
    where = command.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS",
                       help="a Dask scheduler: tcp://host:8786")  # fmt: skip
    where.add_argument("--workers", type=values.whole("--workers"), metavar="N",
                       help="processes of this machine (default: one for each core)")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print JSON")


def sweep(options: argparse.Namespace) -> int:
    """Run the sweep; exit code 2 where a line could not be used."""
    from advisor.advice.sweep import sweep as run  # noqa: PLC0415 - Dask takes a second to load

    engine = Engine.open(loaded_catalog())
    bar = Bar(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=Console(file=sys.stderr), disable=options.json,
    )  # fmt: skip
    with bar:
        line = bar.add_task("jobs", total=None)

        def show(now: Progress) -> None:
            said = f"jobs ({now.resumed:,} from before)" if now.resumed else "jobs"
            bar.update(line, total=now.total, completed=now.done, description=said)

        frame = run(
            options.jobs, options.output, scenarios=options.scenarios, engine=engine,
            scheduler=options.scheduler, workers=options.workers, progress=show,
        )  # fmt: skip
    return _say(frame, options)


def _say(frame: pd.DataFrame, options: argparse.Namespace) -> int:
    answers = frame.drop_duplicates(["line", "scenario"])
    counts = {str(status): int(n) for status, n in answers["status"].value_counts().items()}
    bad = answers[answers["status"].isin(["bad input", "failed"])]
    if options.json:
        told = {"file": str(options.output), "answers": counts, "rows": len(frame)}
        print(json.dumps(told))  # noqa: T201 - this is the output
    else:
        out = Console()
        said = ", ".join(f"{n:,} {status}" for status, n in sorted(counts.items()))
        out.print(f"Wrote {plain(options.output)}: {len(frame):,} rows; {said}.")
    for row in bad.head(SHOWN).itertuples():
        said = f"{options.jobs}, line {row.line}: {row.error}"
        print(f"advisor: {printable(said)}", file=sys.stderr)  # noqa: T201 - beside the output
    if len(bad) > SHOWN:
        print(f"advisor: … and {len(bad) - SHOWN:,} more", file=sys.stderr)  # noqa: T201 - beside the output
    return BAD_INPUT if len(bad) else 0
