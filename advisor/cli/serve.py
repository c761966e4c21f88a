"""Serve the app on the loopback interface."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from advisor.advice import Engine
from advisor.cli.values import LAST_PORT
from advisor.core.errors import InvalidInputError
from advisor.core.paths import TABLES_DIR

if TYPE_CHECKING:
    import argparse

ADDRESS: Final = "127.0.0.1"


def serve(options: argparse.Namespace) -> int:
    """Prepare the data, print the address and run the app until it is stopped."""
    port = options.port or _port_of_environment() or free_port()
    _say("Preparing: prices, measured runs, predictor (15 s the first time) …")
    engine = Engine.open()
    _say(f"{engine.runs:,} measured runs, {len(engine.catalog.offers):,} prices.")
    _say(f"Open http://{ADDRESS}:{port}  (stop with Ctrl-C)")
    root = TABLES_DIR.parent
    command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py"),
               f"--server.port={port}", f"--server.address={ADDRESS}"]  # fmt: skip
    try:
        return subprocess.run(command, cwd=root, check=False).returncode  # noqa: S603 - our own
    except KeyboardInterrupt:
        return 0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def _port_of_environment() -> int | None:
    given = os.environ.get("PORT")
    if not given:
        return None
    digits = given.isascii() and given.isdecimal() and len(given) <= len(str(LAST_PORT))
    if not digits or not 0 < int(given) <= LAST_PORT:
        raise InvalidInputError(
            f"{given!r} is not a port.", where="PORT", todo=f"Give 1 to {LAST_PORT}."
        )
    return int(given)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - this is the output
