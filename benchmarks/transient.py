"""Spot machines: CM-DARE boards, held-out lifetimes, real runs, the engines and their speed.

``python -m benchmarks.transient [--board NAME] [--json]``
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from benchmarks import report
from benchmarks.boards import cmdare, lifetimes, transient_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOARDS: Final[dict[str, Callable[[], Iterator[report.Row]]]] = {
    "cmdare_checkpoint": cmdare.cmdare_checkpoint,
    "cmdare_scaling": cmdare.cmdare_scaling,
    "cmdare_runs": cmdare.cmdare_runs,
    "cmdare_end_to_end": cmdare.cmdare_end_to_end,
    "lifetimes_places": lifetimes.lifetimes_places,
    "lifetimes_regions": lifetimes.lifetimes_regions,
    "transient_runs": transient_runs.transient_runs,
    "engines": transient_runs.engines,
    "transient_speed": transient_runs.speed,
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
