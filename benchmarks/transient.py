"""Spot machines: CM-DARE boards, held-out lifetimes, real runs, the engines and their speed.

``python -m benchmarks.transient [--board NAME] [--json]``
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from advisor.core.paths import TABLES_DIR
from benchmarks import report
from benchmarks.boards import engines, in_flight, lifetimes, real_runs
from benchmarks.boards.context import Context
from benchmarks.boards.registry import BOARDS as ACCURACY_BOARDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CMDARE: Final = ("cmdare_step", "cmdare_family", "cmdare_paper_protocol", "cmdare_checkpoint",
                 "cmdare_scaling", "cmdare_runs", "cmdare_end_to_end")  # fmt: skip


def _rows_of(board: str) -> Callable[[], Iterator[report.Row]]:
    # The boards of CM-DARE read the project's own tables and nothing else.
    context = Context(reference=TABLES_DIR)
    return lambda: (row for scored in ACCURACY_BOARDS[board](context) for row in scored.rows())


BOARDS: Final[dict[str, Callable[[], Iterator[report.Row]]]] = {
    **{name: _rows_of(name) for name in CMDARE},
    "lifetimes_places": lifetimes.lifetimes_places,
    "lifetimes_regions": lifetimes.lifetimes_regions,
    "transient_runs": real_runs.real_runs,
    "deadline_reliability": real_runs.reliability,
    "in_flight": in_flight.in_flight,
    "full_servers": in_flight.full_servers,
    "engines": engines.engines,
    "transient_speed": engines.speed,
}


def main() -> int:
    """Run the boards asked for and print them."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--board", choices=list(BOARDS), action="append", help="only this board")
    options = parser.parse_args()
    rows: list[report.Row] = []
    for board in options.board or BOARDS:
        print(f"{board} …", file=sys.stderr, flush=True)
        rows += BOARDS[board]()
    return report.show(rows, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
