"""What following the advised probe gains, for models that are held out whole.

``python -m benchmarks.probes [--json]``
"""

from __future__ import annotations

import sys

from benchmarks import report
from benchmarks.boards.context import Shipped
from benchmarks.boards.probed import held_out_choices, probing


def main() -> int:
    """Measure and print."""
    options = report.parser(__doc__ or "").parse_args()
    return report.show(probing(held_out_choices(Shipped())), as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
