"""Own machines: from a file on Catalog to a pick on Advise, and away again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from playwright.sync_api import Page, expect

from advisor.catalog import own
from advisor.testing.own_lists import LAB, machines_csv
from benchmarks.screenshots import wait_until_still

pytestmark = pytest.mark.e2e

CHEAP = LAB.replace("9.50", "0.50")


def upload(page: Page, text: str) -> None:
    """Give a CSV file to the form."""
    wait_until_still(page)
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )


def test_an_uploaded_machine_is_advised_at_once_and_is_gone_when_it_is_removed(
    server: Callable[..., AbstractContextManager[Page]],
) -> None:
    with server() as page:
        page.goto("/")
        cheapest = page.locator(".st-key-card_cheapest")
        expect(cheapest).to_be_visible()
        expect(page.get_by_role("button", name="Own", exact=True)).to_have_count(0)
        page.get_by_role("link", name="Catalog").click()
        expect(page.get_by_role("heading", name="Your machines and prices")).to_be_visible()

        upload(page, machines_csv(CHEAP.replace("0.50", "NaN")))
        expect(page.get_by_text("“NaN” is not a number.")).to_be_visible()
        save = page.get_by_role("button", name="Save", exact=True)
        expect(save).to_be_disabled()
        upload(page, machines_csv(CHEAP))
        expect(save).to_be_enabled()
        save.click()
        expect(page.get_by_text("Advise uses your machines now.")).to_be_visible()

        page.get_by_role("link", name="Advise").click()
        expect(cheapest).to_contain_text("lab-h100")
        expect(page.get_by_role("button", name="Own", exact=True)).to_be_visible()
        address = page.url
        page.goto(address)
        expect(cheapest).to_contain_text("lab-h100")
        assert "clouds=" not in address

        own.remove(own.MACHINES)
        page.goto(address)
        expect(cheapest).to_be_visible()
        expect(cheapest).not_to_contain_text("lab-h100")
        expect(page.get_by_role("button", name="Own", exact=True)).to_have_count(0)
