"""Start the app, and find a browser, for tests, benchmarks and screenshots."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Final

from advisor.cli.serve import free_port
from advisor.core.paths import TABLES_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS: Final = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
START_TRIES: Final = 300


def find_browser() -> str | None:
    """Return the path of the first Chromium or Chrome on this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextlib.contextmanager
def running_app(**environment: str) -> Iterator[tuple[str, int]]:
    """Serve the app on a free loopback port; give its address and its process id."""
    port = free_port()
    process = subprocess.Popen(  # noqa: S603 - our own app
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}",
         "--server.address=127.0.0.1"],
        cwd=TABLES_DIR.parent, env=os.environ | environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(url)
        yield url, process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def _wait_until_healthy(url: str) -> None:
    for _ in range(START_TRIES):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health") as answer:  # noqa: S310 - loopback
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the app did not start within 30 s")
