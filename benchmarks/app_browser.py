"""A warm app and a browser, for what is measured or drawn on the page."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from advisor.advice import Engine
from advisor.testing.app import ARGUMENTS, find_browser, running_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@contextlib.contextmanager
def app_and_browser() -> Iterator[tuple[str, int, Browser]]:
    """Serve the app with its predictor trained; give its address, its process id and a browser."""
    found = find_browser()
    if found is None:
        print("no Chromium or Chrome found", file=sys.stderr)
        raise SystemExit(2)
    Engine.open()
    with running_app() as (url, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield url, pid, browser
        browser.close()
