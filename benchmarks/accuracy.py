"""Accuracy of the predictor on boards of measured runs, by whole-group hold-out.

``python -m benchmarks.accuracy [--board NAME] [--json] [--store]``
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from advisor.advice.boards import Board, Figure, Stamp, write_board
from advisor.testing.reference import reference_dir
from benchmarks import report
from benchmarks.boards.context import Context
from benchmarks.boards.store import store_gpu, store_model
from benchmarks.boards.vtrain import vtrain_multi, vtrain_single

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.boards.scoring import Scored

BOARDS: Final[dict[str, Callable[[Context], Iterator[Scored]]]] = {
    "vtrain_single": vtrain_single,
    "vtrain_multi": vtrain_multi,
    "store_model": store_model,
    "store_gpu": store_gpu,
}


def main() -> int:
    """Run the boards asked for and print them."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--board", choices=list(BOARDS), action="append", help="only this board")
    parser.add_argument("--store", action="store_true", help="keep the figures for the app")
    options = parser.parse_args()
    reference = reference_dir()
    if reference is None:
        print("no reference data: set ADVISOR_REFERENCE_DIR to its directory", file=sys.stderr)
        return 2
    context = Context(reference)
    rows: list[report.Row] = []
    for board in options.board or BOARDS:
        print(f"{board} …", file=sys.stderr, flush=True)
        for scored in BOARDS[board](context):
            rows += scored.rows()
            if options.store:
                write_board(_stored(scored, context), scored.points)
    return report.show(rows, as_json=options.json)


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
