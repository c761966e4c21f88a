"""The advisor in a terminal: ``python -m advisor``.

Exit codes: 0 fine, 2 bad input, 3 nothing feasible; 130 stopped with Ctrl-C.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from typing import TYPE_CHECKING

from advisor.cli.arguments import make_parser
from advisor.cli.text import printable
from advisor.core.errors import AdvisorError, NoFeasiblePlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

BAD_INPUT = 2
NOTHING_FEASIBLE = 3
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors of the user are printed without a stack trace."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without “×” still gets the numbers
        sys.stdout.reconfigure(errors="replace")
    try:
        options = make_parser().parse_args(given)
        code = int(options.run(options))
        sys.stdout.flush()
    except AdvisorError as error:
        _say(error, as_json="--json" in given)
        return NOTHING_FEASIBLE if isinstance(error, NoFeasiblePlanError) else BAD_INPUT
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:  # the reader, head or a pager, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _say(error: AdvisorError, *, as_json: bool) -> None:
    """Print the error for people and, where asked for, as an object for programs."""
    if as_json:
        print(json.dumps({"error": error.to_dict()}))  # noqa: T201 - this is the output
    print(f"advisor: {printable(str(error))}", file=sys.stderr)  # noqa: T201 - this is the output
