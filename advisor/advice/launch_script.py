"""A shell script that starts torchrun on one machine with the arguments of a framework."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from advisor.advice.quoting import comments

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


def launch_script(launch: Launch, flags: tuple[str, ...], before: str = "") -> str:
    """Return the script; what is given to it follows the arguments.

    Parameters
    ----------
    flags : tuple of str
        Arguments of the training script.
    before : str
        Lines of shell before the start.
    """
    return (
        "#!/usr/bin/env bash\n"
        + comments(launch.headline)
        + "\nset -euo pipefail\n"
        + several_nodes(launch)
        + launch.exports()
        + before
        + f"arguments=(\n{argument_lines(flags)})\n"
        + launch.torchrun(rank='"$NODE_RANK"', head='"$MASTER_ADDR"')
        + ' "${arguments[@]}" "$@"\n'
    )


def several_nodes(launch: Launch) -> str:
    """Return lines that refuse to start where a machine does not know its place."""
    if launch.nodes == 1:
        return ""
    return (
        f': "${{NODE_RANK:?this machine, from 0 to {launch.nodes - 1}}}"\n'
        ': "${MASTER_ADDR:?the address of machine 0}"\n'
    )


def argument_lines(flags: tuple[str, ...]) -> str:
    """Return arguments one option per line, quoted."""
    lines: list[str] = []
    for word in flags:
        quoted = shlex.quote(word)
        if word.startswith("-") or not lines:
            lines.append(f"  {quoted}")
        else:
            lines[-1] += f" {quoted}"
    return "".join(f"{line}\n" for line in lines)
