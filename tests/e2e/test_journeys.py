"""What a person does: ask, read four picks, change the deadline, open a plan, share the link."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from benchmarks.screenshots import wait_until_still

pytestmark = pytest.mark.e2e

PICKS = ("cheapest", "fastest", "best_value", "safest")


def wait_for_answer(page: Page) -> None:
    """Wait until the picks and the chart are on the page."""
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_role("button", name="Open plan")).to_have_count(4)


def cards(page: Page) -> list[str]:
    """The four pick cards as text, once nothing on the page changes any more."""
    wait_until_still(page)
    return [page.locator(f".st-key-card_{name}").inner_text() for name in PICKS]


def set_number(page: Page, label: str, value: str) -> None:
    """Type into a number field of the sidebar."""
    field = page.get_by_label(label)
    field.fill(value)
    field.press("Enter")


def test_sample_job_shows_four_picks_with_cost_time_and_interval(
    new_page: Callable[..., Page],
) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    for title, text in zip(
        ("Cheapest", "Fastest", "Best value", "Safest"), cards(page), strict=True
    ):
        assert title in text
        assert "$" in text
        assert "–" in text
        assert "Within 72" in text
    expect(page).to_have_url(re.compile("deadline=72"))


def test_a_tighter_deadline_changes_the_picks(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    before = cards(page)
    set_number(page, "Deadline, h", "10")
    expect(page.locator(".st-key-card_cheapest")).to_contain_text("Within 10")
    after = cards(page)
    assert before[0] != after[0]
    expect(page).to_have_url(re.compile(r"deadline=10(&|$)"))


def test_a_click_on_a_dot_opens_the_plan_and_back_returns(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    page.locator(".js-plotly-plot .scatterlayer .point").last.click(force=True)
    for heading in ("One step", "Memory per device", "Bill", "When it finishes", "Prices used",
                    "What would flip the choice"):  # fmt: skip
        expect(page.get_by_text(heading, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("plan="))
    page.go_back()
    wait_for_answer(page)
    expect(page).not_to_have_url(re.compile("plan="))


def test_a_card_opens_its_plan(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    machines = page.locator(".st-key-card_safest strong").first.inner_text()
    page.locator(".st-key-card_safest").get_by_role("button", name="Open plan").click()
    expect(page.get_by_role("heading", name=machines)).to_be_visible()
    page.get_by_role("button", name="All plans").click()
    wait_for_answer(page)


def click_front(page: Page, x: int, row: int) -> None:
    """Click into the table of the front, `x` pixels from its left edge."""
    wait_until_still(page)  # a table that is drawn again has no place
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + 52 + 35 * row)


def test_a_row_opens_its_plan(new_page: Callable[..., Page]) -> None:
    page = new_page(height=2200)  # the whole front is in sight, so nothing scrolls under a click
    page.goto("/")
    wait_for_answer(page)
    wait_until_still(page)
    click_front(page, x=200, row=0)
    expect(page.get_by_text("One step", exact=True)).to_be_visible()


def test_ticked_rows_a_card_and_dots_are_compared_and_the_link_reopens_them(
    new_page: Callable[..., Page],
) -> None:
    page = new_page(height=2200)
    page.goto("/")
    wait_for_answer(page)
    page.locator(".st-key-compare_safest button:visible").click()  # a second one is for touch
    expect(page.get_by_text("To compare: 1 of 5")).to_be_visible()
    click_front(page, x=20, row=1)
    expect(page.get_by_text("To compare: 2 of 5")).to_be_visible()
    page.get_by_text("Choose dots").click()
    expect(page.get_by_text("click dots to compare their plans")).to_be_visible()
    page.locator(".js-plotly-plot .scatterlayer .point").nth(40).click(force=True)
    expect(page.get_by_text("To compare: 3 of 5")).to_be_visible()
    page.locator(".st-key-basket").get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare plans")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    assert len(parse_qs(urlparse(page.url).query)["compare"]) == 3
    shown = page.get_by_test_id("stMetricValue").all_inner_texts()
    other = new_page(height=2200)
    other.goto(page.url)
    expect(other.locator(".js-plotly-plot")).to_have_count(4)
    assert other.get_by_test_id("stMetricValue").all_inner_texts() == shown
    other.get_by_role("link", name="Advise").click()
    wait_for_answer(other)
    expect(other.get_by_text("To compare: 3 of 5")).to_be_visible()
    expect(other.get_by_label("Deadline, h")).to_have_value("72")
    page.get_by_role("button", name="Open plan").first.click()
    expect(page.get_by_text("One step", exact=True)).to_be_visible()
    expect(page.get_by_label("Deadline, h")).to_have_value("72")


def test_the_copied_link_gives_the_same_picks_elsewhere(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    set_number(page, "Deadline, h", "24")
    expect(page.locator(".st-key-card_cheapest")).to_contain_text("Within 24")
    page.get_by_role("button", name="Asia", exact=True).click()
    page.wait_for_url("**areas=**")
    wait_for_answer(page)
    other = new_page()
    other.goto(page.url)
    wait_for_answer(other)
    assert cards(other) == cards(page)


def test_the_link_of_a_plan_reopens_it(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    page.get_by_role("button", name="Open plan").first.click()
    page.get_by_role("button", name="Copy link").click()
    address = page.get_by_test_id("stCode").inner_text().strip()
    title = page.get_by_role("heading", level=1).inner_text()
    other = new_page()
    other.goto(address)
    expect(other.get_by_role("heading", level=1)).to_have_text(title)


def test_downloads_are_the_advice_and_the_plan(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON", exact=True).click()
    waiting.value.save_as(tmp_path / "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert set(advice["picks"]) == set(PICKS)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV", exact=True).click()
    waiting.value.save_as(tmp_path / "advice.csv")
    assert (tmp_path / "advice.csv").read_text().startswith("plan_id,pick,cloud")
    page.get_by_role("button", name="Open plan").first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Plan, JSON").click()
    waiting.value.save_as(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["kind"] == "Proposal"


def test_why_a_pick_won_is_opened_of_each_and_the_link_reopens_it(
    new_page: Callable[..., Page],
) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    page.get_by_text("Why this choice").click()
    expect(page.get_by_text("What moves the bill most")).to_be_visible()
    expect(page.get_by_text("turns out the lower of the two with a chance of")).to_be_visible()
    expect(page.locator(".st-key-tornado .main-svg").first).to_be_visible()
    expect(page.locator(".st-key-break_even .main-svg").first).to_be_visible()
    expect(page.get_by_text("Then cheapest is")).to_be_visible()
    expect(page).to_have_url(re.compile("why=true"))
    page.locator(".st-key-why_pick").get_by_text("Fastest").click()
    expect(page.get_by_text("The robust choice is")).to_be_visible()
    page.locator(".st-key-why_quantity").get_by_text("Step time").wait_for()
    other = new_page()
    other.goto(page.url)
    expect(other.get_by_text("What moves the bill most")).to_be_visible()


def test_nothing_feasible_offers_a_way_out(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/?job=llama-2-7b · 10 B tokens · batch 1,024&deadline=0.2")
    expect(page.get_by_text("No plan meets all constraints")).to_be_visible()
    page.get_by_role("button", name="Use this").first.click()
    wait_for_answer(page)


def test_a_phone_shows_the_cards_two_by_two(new_page: Callable[..., Page]) -> None:
    page = new_page(width=390, height=844)
    page.goto("/")
    wait_for_answer(page)
    wait_until_still(page)
    boxes = [page.locator(f".st-key-card_{name}").bounding_box() for name in PICKS]
    assert all(boxes)
    xs = [box["x"] for box in boxes if box]
    assert xs[0] == xs[2] < xs[1] == xs[3]
    overflow = page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


def test_the_keyboard_reaches_the_first_plan(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto("/")
    wait_for_answer(page)
    page.get_by_role("button", name="Open plan").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("One step", exact=True)).to_be_visible()
