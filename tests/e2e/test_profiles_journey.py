"""What a person does with a trace: upload it, read it, take advice calibrated by it, compare."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from advisor.advice import Engine
from advisor.testing.app import running_app
from advisor.testing.uploads import bad_files, profiler_trace
from benchmarks.screenshots import wait_until_still

pytestmark = pytest.mark.e2e

PUBLIC = "data/traces/kineto/resnet50_v100_workers4.pt.trace.json.gz"
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


@pytest.fixture(scope="module")
def app_url(
    engine: Engine, engine_data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app with a store of its own: these journeys keep runs."""
    path = tmp_path_factory.mktemp("profiles") / "data"
    shutil.copytree(engine_data_dir, path)
    with running_app(ADVISOR_DATA_DIR=str(path)) as (url, _):
        yield url


@pytest.fixture
def own_trace(tmp_path: Path) -> Path:
    path = tmp_path / "own.pt.trace.json"
    path.write_bytes(profiler_trace())
    return path


def upload(page: Page, *files: Path) -> None:
    page.goto("/profiles")
    expect(page.get_by_text("Tick one to correct it")).to_be_visible()
    page.locator("input[type=file]").set_input_files(files)
    expect(page.locator(".st-key-account")).to_contain_text(f"{len(files)} file")


def told(page: Page, title: str, card: int = 0) -> str:
    """Return what a card says under a title."""
    text = page.locator(f".st-key-upload_{card}").locator("p", has_text=title).first.inner_text()
    return text.split("\n", 1)[1]


def number(text: str) -> float:
    found = re.search(r"[\d.]+", text)
    assert found is not None
    return float(found[0])


def advise(page: Page) -> None:
    """Ask for advice from the first card, and wait for the calibrated answer."""
    wait_until_still(page)  # a button that is drawn again is there twice for a moment
    page.locator(".st-key-advise_0 button:visible").click()
    expect(page.locator(".st-key-calibration")).to_contain_text("Calibrated by one of your runs")
    expect(page.get_by_role("button", name="Open plan")).to_have_count(4)
    expect(page).to_have_url(re.compile("runs=[0-9a-f]{12}"))


def compare_two(page: Page) -> None:
    """Choose two plans of the answer, and see them side by side."""
    wait_until_still(page)
    page.locator(".st-key-compare_cheapest button:visible").click()
    expect(page.get_by_text("To compare: 1 of 5")).to_be_visible()
    page.locator(".st-key-compare_fastest button:visible").click()
    expect(page.get_by_text("To compare: 2 of 5")).to_be_visible()
    page.locator(".st-key-basket").get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare plans")).to_be_visible()
    expect(page.locator(".st-key-calibration")).to_contain_text("Calibrated by one of your runs")
    expect(page.locator(".st-key-plan_B")).to_be_visible()
    expect(page).to_have_url(re.compile("runs=[0-9a-f]{12}"))


def test_an_own_trace_leads_to_plans_calibrated_by_it(
    new_page: Callable[..., Page], own_trace: Path
) -> None:
    page = new_page()
    upload(page, own_trace)
    wait_until_still(page)
    assert number(told(page, "Step time")) == pytest.approx(100, rel=0.02)
    assert number(told(page, "Busy")) == pytest.approx(80, abs=1)
    page.get_by_label("Model").fill("resnet-50")
    page.get_by_label("Model").press("Enter")
    page.get_by_label("Global batch").fill("32")
    page.get_by_label("Global batch").press("Enter")
    expect(page.get_by_text("Fill in Model")).to_have_count(0)
    advise(page)
    wait_until_still(page)
    page.get_by_role("button", name="Open plan").first.click()
    expect(page.get_by_text(re.compile("Before .* by one of your runs"))).to_be_visible()
    page.get_by_role("button", name="All plans").click()
    expect(page.get_by_role("button", name="Open plan")).to_have_count(4)
    compare_two(page)


def test_a_public_trace_tells_its_step_and_leads_to_calibrated_plans(
    new_page: Callable[..., Page], reference: Path
) -> None:
    page = new_page()
    upload(page, reference / PUBLIC)
    wait_until_still(page)
    assert number(told(page, "Step time")) == pytest.approx(126, rel=0.02)
    assert number(told(page, "Busy")) == pytest.approx(72.4, abs=1)
    advise(page)
    compare_two(page)


def test_a_trace_sent_over_http_opens_on_the_page_and_leads_to_plans(
    new_page: Callable[..., Page], own_trace: Path
) -> None:
    page = new_page()
    answer = page.request.post(
        "/api/traces?name=own.json&wait=60", data=own_trace.read_bytes(),
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    said = answer.json()
    assert said["runs"][0]["step_time_s"] == pytest.approx(0.1)
    page.goto(said["page"])
    expect(page.locator(".st-key-account")).to_contain_text("1 file")
    expect(page).to_have_url(re.compile("/profiles$"))
    wait_until_still(page)
    assert number(told(page, "Step time")) == pytest.approx(100, rel=0.02)
    page.reload()  # what was read is handed over once
    expect(page.get_by_text("Each file becomes a card")).to_be_visible()


def test_a_kept_run_is_marked_deleted_and_brought_back(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    table = tmp_path / "runs.csv"
    table.write_text(
        "model,gpu_name,gpus,step_time_s,global_batch,precision\nBERT-large,T4,1,0.37,16,fp16\n"
    )
    page = new_page()
    upload(page, table)
    page.locator(".st-key-keep_0 button:visible").click()
    expect(page.get_by_text("new in your store")).to_be_visible()
    page.get_by_role("button", name="Yours", exact=True).click()
    page.get_by_role("textbox", name="Search").fill("bert t4")
    page.get_by_role("textbox", name="Search").press("Enter")
    expect(page.get_by_text("1 run. Tick one")).to_be_visible()
    wait_until_still(page)
    box = page.get_by_test_id("stDataFrame").last.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 52)
    expect(page.locator(".st-key-chosen_run")).to_contain_text("BERT-large on 1 × T4")
    page.locator(".st-key-mark_outlier button:visible").click()
    edits = page.locator(".st-key-edits")
    expect(edits).to_contain_text("Marked as an outlier: BERT-large on 1 × T4")
    edits.get_by_role("button", name="Undo").first.click()
    expect(edits).to_have_count(0)


def test_cards_of_good_and_bad_files_are_without_barriers_and_fit_a_phone(
    new_page: Callable[..., Page], own_trace: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.json"
    picture.write_bytes(bad_files(tmp_path / "marker")["picture.json"])
    page = new_page(width=390, height=844, scheme="dark")
    upload(page, own_trace, picture)
    expect(page.get_by_text("Not read")).to_be_visible()
    wait_until_still(page)
    assert page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth") <= 0
    found = Axe().run(page, options=WCAG).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
