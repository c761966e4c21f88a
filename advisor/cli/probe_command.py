"""The command ``probe``: the script that measures a job where it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cli.files import check_place, write_text
from advisor.traces.probe import probe_script

if TYPE_CHECKING:
    import argparse

DESCRIPTION = (
    "Write a small script that needs PyTorch only. Beside your training script, it profiles some "
    "steps after warm-up and leaves a folder to be read with: trace --job, or to be uploaded. No "
    "names of people, hosts or folders are in it."
)


def add_commands(actions: Any) -> None:
    """Add the command to the parser."""
    command = actions.add_parser("probe", help="a script that measures a job where it runs",
                                 description=DESCRIPTION)  # fmt: skip
    command.set_defaults(run=probe)
    command.add_argument("path", type=Path, metavar="FILE", nargs="?",
                         default=Path("advisor_probe.py"))  # fmt: skip
    command.add_argument("--steps", type=int, default=20, help="steps that are profiled")


def probe(options: argparse.Namespace) -> int:
    """Write the script.

    Raises
    ------
    InvalidInputError
        If the number of steps is not possible or the file cannot be written.
    """
    script = probe_script(steps=options.steps)
    check_place(options.path)
    write_text(options.path, script)
    print(f"Wrote {options.path}; its first lines say how to use it.")  # noqa: T201 - this is the output
    return 0
