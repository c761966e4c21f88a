"""A plan handed on: its report, a file for another tool, the whole for a later comparison."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from advisor.advice.proposal_files import read_proposal
from advisor.ui.state import DEFAULT_JOB
from benchmarks.screenshots import wait_until_still

pytestmark = pytest.mark.e2e

PLAN = {"job": DEFAULT_JOB, "deadline": "36", "plan": "aws~p5.48xlarge~us-east-1~on_demand~8"}


def saved(page: Page, label: str, folder: Path) -> Path:
    """Click a button that downloads, and return the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).locator("visible=true").first.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_a_plan_leaves_as_report_as_script_and_whole(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = new_page()
    page.goto(f"/?{urlencode(PLAN)}")
    wait_until_still(page)
    whole = saved(page, "Plan, JSON", tmp_path)
    proposal = read_proposal(whole)
    assert proposal.limits["deadline_h"] == 36
    assert proposal.runner_up is not None

    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("sky launch plan-")).to_be_visible()
    expect(page.get_by_text("instance_type: p5.48xlarge").first).to_be_visible()
    script = saved(page, f"plan-{proposal.plan.id}.sky.yaml", tmp_path)
    assert proposal.plan.id in script.read_text()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Report", exact=True).click()
    assert saved(page, "PDF", tmp_path).read_bytes().startswith(b"%PDF-")
    html = saved(page, "HTML", tmp_path)
    reader = page.context.new_page()
    reader.goto(html.as_uri())
    expect(reader.get_by_text("The runner-up, and why not")).to_be_visible()
    expect(reader.get_by_text("8 × p5.48xlarge").first).to_be_visible()
