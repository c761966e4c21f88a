"""Saved plans outlive the server: save, restart, reopen, and the way back of every edit."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from advisor.advice import Engine
from advisor.ui.state import DEFAULT_JOB
from benchmarks.example_plans import save_examples
from benchmarks.screenshots import COMPARED, wait_until_still

pytestmark = pytest.mark.e2e

Opened = Callable[..., AbstractContextManager[Page]]
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


def figures(page: Page) -> list[str]:
    """The first two figures of the page: cost and time."""
    wait_until_still(page)
    return page.get_by_test_id("stMetricValue").all_inner_texts()[:2]


def open_menu(page: Page, name: str) -> None:
    """Open a menu of the first plan."""
    page.locator("button:visible").filter(has_text=name).first.click()


def test_a_saved_plan_is_reopened_after_a_restart_with_the_same_machines_and_cost(
    server: Opened,
) -> None:
    with server() as page:
        page.goto("/plans")
        expect(page.get_by_text("No plan is saved yet")).to_be_visible()
        page.goto(f"/?job={DEFAULT_JOB}&deadline=36&plan={COMPARED[1]}")
        title = page.get_by_role("heading", name=re.compile("8 × p4d.24xlarge, us-east-1, spot"))
        expect(title).to_be_visible()
        before = figures(page)
        open_menu(page, "Save plan")
        page.get_by_label("Name").fill("Llama, spring")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".st-key-saved")).to_contain_text("Saved as Llama, spring")
        page.locator(".st-key-saved").get_by_role("link", name="Plans").click()
        expect(page.get_by_role("heading", name="Llama, spring")).to_be_visible()
        assert figures(page) == before
    with server() as page:
        page.goto("/plans")
        expect(page.get_by_role("heading", name="Llama, spring")).to_be_visible()
        assert figures(page) == before
        page.get_by_role("button", name="Open", exact=True).click()
        title = page.get_by_role("heading", name=re.compile("8 × p4d.24xlarge, us-east-1, spot"))
        expect(title).to_be_visible()
        expect(page).to_have_url(re.compile("deadline=36"))
        expect(page.get_by_label("Deadline, h")).to_have_value("36")
        assert figures(page) == before


def test_rename_delete_undo_record_and_what_changed(server: Opened) -> None:
    with server() as page:
        page.goto(f"/?job={DEFAULT_JOB}&plan={COMPARED[0]}")
        open_menu(page, "Save plan")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".st-key-saved")).to_be_visible()
        page.get_by_role("link", name="Plans").first.click()

        open_menu(page, "Edit")
        page.get_by_label("Name").fill("Another")
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_role("heading", name="Another")).to_be_visible()

        open_menu(page, "Edit")
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("No plan is saved yet")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("heading", name="Another")).to_be_visible()

        page.get_by_text("What changed since").click()
        expect(page.get_by_text("The predicted cost is the same.")).to_be_visible()

        open_menu(page, "It ran")
        page.get_by_label("Hours, from start to end").fill("4.5")
        page.get_by_role("button", name="Record").click()
        expect(page.get_by_text("inside the interval")).to_be_visible()

        # The job of Advise is still the one that was asked for.
        page.get_by_role("link", name="Advise").first.click()
        expect(page.get_by_label("Job", exact=True)).to_have_value(DEFAULT_JOB)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_saved_plans_with_runs_and_changes_have_no_serious_barrier(
    engine: Engine, server: Opened, scheme: str
) -> None:
    save_examples(engine, COMPARED)
    with server(scheme) as page:
        page.goto("/plans")
        for plan in range(len(COMPARED)):
            page.get_by_text("What changed since").nth(plan).click()
            expect(page.get_by_test_id("stTable")).to_have_count(plan + 1)
        wait_until_still(page)
        open_menu(page, "It ran")
        wait_until_still(page)
        found = Axe().run(page, options=WCAG).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
