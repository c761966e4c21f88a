"""A running app and a real browser; nothing leaves the loopback interface."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from advisor.advice import Engine

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE_MS = 90_000


def find_browser() -> str:
    """The first Chromium or Chrome on this machine, or a skip with the reason (not in CI)."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        message = "no Chromium or Chrome found: install chromium to run the browser tests"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def start_server(port: int, data_dir: Path) -> subprocess.Popen[bytes]:
    """Start the app and wait until it is healthy."""
    environment = os.environ | {"ADVISOR_DATA_DIR": str(data_dir)}
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}",
         "--server.address=127.0.0.1"],
        cwd=ROOT, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health") as answer:
                if answer.read() == b"ok":
                    return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise RuntimeError("the app did not start within 30 s")


@pytest.fixture(scope="session")
def app_url(engine: Engine, engine_data_dir: Path) -> Iterator[str]:
    """Address of the app on the data directory whose predictor is trained already."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = start_server(port, engine_data_dir)
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(20)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for the session."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def outside() -> list[str]:
    """Addresses other than the app's that a page asked for; a test leaves it empty."""
    return []


@pytest.fixture
def new_page(browser: Browser, app_url: str, outside: list[str]) -> Iterator[Callable[..., Page]]:
    """Make pages in contexts of their own that reach nothing but the app."""
    contexts = []

    def make(width: int = 1280, height: int = 1400, scheme: str = "light") -> Page:
        context = browser.new_context(
            base_url=app_url, viewport={"width": width, "height": height}, reduced_motion="reduce",
            color_scheme=scheme, accept_downloads=True,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)

        def guard(route: Route) -> None:
            if route.request.url.startswith((app_url, "data:", "blob:")):
                route.continue_()
            else:
                outside.append(route.request.url)
                route.abort()

        page.route("**/*", guard)
        return page

    yield make
    for context in contexts:
        context.close()
    assert outside == []
