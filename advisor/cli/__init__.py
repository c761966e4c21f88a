"""The advisor in a terminal: ``python -m advisor``.

Exit codes: 0 fine, 2 bad input, 3 nothing feasible.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING

from advisor.cli.arguments import make_parser
from advisor.core.errors import AdvisorError, NoFeasiblePlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors of the user are printed without a stack trace."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    options = make_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except AdvisorError as error:
        if getattr(options, "json", False):
            said = {"error": {"kind": type(error).__name__, "what": error.what,
                              "where": error.where, "todo": error.todo}}  # fmt: skip
            print(json.dumps(said, ensure_ascii=False))  # noqa: T201 - this is the output
        print(f"advisor: {error}", file=sys.stderr)  # noqa: T201 - this is the output
        return 3 if isinstance(error, NoFeasiblePlanError) else 2
