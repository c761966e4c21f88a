"""Limits as a person sets them: a country, a quota, a conflict and the way out, the shared link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from advisor.ui.state import DEFAULT_JOB
from benchmarks.screenshots import wait_until_still

pytestmark = pytest.mark.e2e

QUOTA = {
    "Quotas": [
        {
            "QuotaName": "Running On-Demand P instances",
            "Value": 96.0,
            "QuotaArn": "arn:aws:servicequotas:us-east-1:123456789012:ec2/L-417A185B",
        }
    ]
}


def test_limits_are_set_shared_and_relaxed(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"/?job={DEFAULT_JOB}&residency=EU")
    cheapest = page.locator(".st-key-card_cheapest")
    expect(cheapest).to_contain_text(re.compile(r"\b(eu-|europe-|\w+(central|north|europe|west))"))
    wait_until_still(page)
    expander = page.locator(".st-key-limits")
    expect(expander).to_contain_text("Limits · 1 set")

    field = page.get_by_role("textbox", name="Quotas of your accounts")
    field.fill(json.dumps(QUOTA))
    field.press("Control+Enter")
    expect(field).to_have_value("Running On-Demand P instances,96,us-east-1")
    expect(page).to_have_url(re.compile("quota=Running"))

    memory = page.get_by_role("spinbutton", name="Accelerator memory, GB, at least")
    memory.fill("500")
    memory.press("Enter")
    conflict = page.locator(".st-key-infeasible")
    expect(conflict).to_contain_text("None meets accelerator memory 500")
    shared = page.url

    other = new_page()
    other.goto(shared)
    expect(other.locator(".st-key-infeasible")).to_contain_text("None meets accelerator memory 500")
    wait_until_still(other)
    other.locator(".st-key-relax_least_memory_gb button:visible").click()
    expect(other.locator(".st-key-card_cheapest")).to_be_visible()
