"""No serious barrier by the rules of axe-core, on any page, in light and in dark."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from benchmarks.screenshots import SCREENS, wait_until_still

pytestmark = pytest.mark.e2e

WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", list(SCREENS))
def test_a_screen_has_no_serious_barrier(
    new_page: Callable[..., Page], screen: str, scheme: str
) -> None:
    page = new_page(scheme=scheme)
    place, address = SCREENS[screen]
    page.goto(f"/{place}?{urlencode(address, doseq=True)}")
    wait_until_still(page)
    found = Axe().run(page, options=WCAG).response["violations"]
    serious = [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
