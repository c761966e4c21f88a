"""What calibration by own runs gains, on measured runs of models that are held out whole.

``python -m benchmarks.calibration [--json]``
"""

from __future__ import annotations

import sys

from benchmarks import report
from benchmarks.boards.context import Shipped
from benchmarks.boards.own_runs import calibration, held_out_questions


def main() -> int:
    """Measure and print."""
    options = report.parser(__doc__ or "").parse_args()
    return report.show(calibration(held_out_questions(Shipped())), as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
