"""A running app and a real browser; nothing leaves the loopback interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from advisor.advice import Engine
from advisor.testing.app import ARGUMENTS, find_browser, running_app

PATIENCE_MS = 90_000


@pytest.fixture(scope="session")
def app_url(engine: Engine, engine_data_dir: Path) -> Iterator[str]:
    """Address of the app on the data directory whose predictor is trained already."""
    with running_app(ADVISOR_DATA_DIR=str(engine_data_dir)) as (url, _):
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for the session."""
    found = find_browser()
    if found is None:
        message = "no Chromium or Chrome found: install chromium to run the browser tests"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def server(browser: Browser, engine_copy: Path) -> Callable[..., AbstractContextManager[Page]]:
    """Start a server on the test's own data, with a page open on it; it ends with the block."""

    @contextmanager
    def start(scheme: str = "light") -> Iterator[Page]:
        with running_app(ADVISOR_DATA_DIR=str(engine_copy)) as (url, _):
            context = browser.new_context(
                base_url=url, reduced_motion="reduce", color_scheme=scheme,
                viewport={"width": 1280, "height": 1400},
            )  # fmt: skip
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            yield page
            context.close()

    return start


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
