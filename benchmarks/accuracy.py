"""Accuracy of the predictor on boards of measured runs, by whole-group hold-out.

``python -m benchmarks.accuracy [--board NAME] [--rows FILE] [--quick] [--json] [--store]``

With ``--rows`` the rows of a CSV that has the columns of the board's own file are predicted, with
that board's own data and the store as training, and scored.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.advice.boards import Board, Figure, Stamp, write_board
from advisor.core.errors import InvalidInputError
from advisor.testing.reference import reference_dir
from benchmarks import report
from benchmarks.boards.context import Context
from benchmarks.boards.given_rows import read_given_rows
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchmarks.boards.scoring import Scored


def main() -> int:
    """Run the boards asked for and print them, our figures before those of peers."""
    options = _options()
    reference = reference_dir()
    if reference is None:
        print("no reference data: set ADVISOR_REFERENCE_DIR to its directory", file=sys.stderr)
        return 2
    context = Context(reference, quick=options.quick)
    rows: list[report.Row] = []
    try:
        for scored in _scored(options, context):
            rows += scored.rows()
            if options.store:
                write_board(_stored(scored, context), scored.points)
    except InvalidInputError as error:
        print(error, file=sys.stderr)
        return 2
    rows.sort(key=lambda row: row.name.startswith("peer."))
    return report.show(rows, as_json=options.json)


def _options() -> argparse.Namespace:
    parser = report.parser(__doc__ or "")
    parser.add_argument("--board", choices=sorted({*BOARDS, *ROWS_BOARDS}), action="append",
                        metavar="NAME", help="only this board")  # fmt: skip
    parser.add_argument("--rows", type=Path, metavar="FILE", help="score these rows instead")
    parser.add_argument("--quick", action="store_true", help="a sample of the groups: minutes")
    parser.add_argument("--store", action="store_true", help="keep the figures for the app")
    options = parser.parse_args()
    boards = options.board or []
    if options.rows and not (len(boards) == 1 and boards[0] in [*ROWS_BOARDS]):
        parser.error(f"--rows wants one --board of {', '.join(ROWS_BOARDS)}")
    if options.store and (options.quick or options.rows):
        parser.error("--store keeps whole boards only, not --quick or --rows")
    return options


def _scored(options: argparse.Namespace, context: Context) -> Iterator[Scored]:
    if options.rows:
        yield from ROWS_BOARDS[options.board[0]](context, read_given_rows(options.rows))
        return
    for board in options.board or BOARDS:
        print(f"{board} …", file=sys.stderr, flush=True)
        yield from BOARDS[board](context)


def _stored(scored: Scored, context: Context) -> Board:
    figures = [Figure(name=row.name.removeprefix(f"{scored.name}."), value=row.value,
                      unit=row.unit, bar=row.bar, holds=row.holds)
               for row in scored.rows()]  # fmt: skip
    return Board(
        name=scored.name,
        title=scored.title,
        held_out=scored.held_out,
        runs_of=scored.runs_of,
        measured_at=datetime.now(UTC).replace(microsecond=0),
        stamp=Stamp.today(context.catalog),
        figures=tuple(figures),
        points=scored.points is not None,
    )


if __name__ == "__main__":
    sys.exit(main())
