"""Accuracy of the predictor on boards of measured runs, by whole-group hold-out.

``python -m benchmarks.accuracy [--board NAME] [--json]``
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from advisor.testing.reference import reference_dir
from benchmarks import report
from benchmarks.boards.context import Context
from benchmarks.boards.store import store_gpu, store_model
from benchmarks.boards.vtrain import vtrain_multi, vtrain_single

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOARDS: Final[dict[str, Callable[[Context], Iterator[report.Row]]]] = {
    "vtrain_single": vtrain_single,
    "vtrain_multi": vtrain_multi,
    "store_model": store_model,
    "store_gpu": store_gpu,
}


def main() -> int:
    """Run the boards asked for and print them."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--board", choices=list(BOARDS), action="append", help="only this board")
    options = parser.parse_args()
    reference = reference_dir()
    if reference is None:
        print("no reference data: set ADVISOR_REFERENCE_DIR to its directory", file=sys.stderr)
        return 2
    context = Context(reference)
    rows: list[report.Row] = []
    for board in options.board or BOARDS:
        print(f"{board} …", file=sys.stderr, flush=True)
        rows += BOARDS[board](context)
    return report.show(rows, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
