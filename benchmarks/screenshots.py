"""Pictures of every screen and state at 1280 and 390 px, light and dark.

``python -m benchmarks.screenshots [FOLDER [SCREEN ...]]`` writes to ``screenshots/`` by default.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from advisor.ui.state import DEFAULT_JOB
from benchmarks.app_browser import app_and_browser
from benchmarks.example_plans import example_data

COMPARED: Final = ["aws~p5.48xlarge~us-east-1~on_demand~8", "aws~p4d.24xlarge~us-east-1~spot~8",
                   "gcp~a3-highgpu-8g~us-central1~spot~4"]  # fmt: skip
Address = dict[str, str | list[str]]
LINE: Final[Address] = {"job": DEFAULT_JOB, "deadline": "36"}
# The path of a page and the values of its address.
SCREENS: Final[dict[str, tuple[str, Address]]] = {
    "advise": ("", LINE | {"budget": "3000", "compare": COMPARED[:2]}),
    "today": ("", {"job": "ResNet-50 · 90 epochs · batch 256", "today": "1 x p3.16xlarge"}),
    "why": ("", LINE | {"why": "true", "probes": "true"}),
    "plan": ("", LINE | {"plan": COMPARED[0]}),
    "plan_spot": ("", LINE | {"plan": COMPARED[1]}),
    "spot": ("spot", {}),
    "infeasible": ("", {"job": DEFAULT_JOB, "deadline": "1", "budget": "200"}),
    "limits": (
        "",
        {
            "job": DEFAULT_JOB,
            "residency": ["EU"],
            "memory": "40",
            "ceiling": "2.5",
            "quota": "p4d.24xlarge,4",
        },
    ),
    "conflict": ("", {"job": DEFAULT_JOB, "confidential": "true", "memory": "140"}),
    "error": ("", {"job": "lama-2-7 · 10 B tokens"}),
    "empty": ("", {"deadline": "36"}),
    "compare": ("compare", LINE | {"compare": COMPARED}),
    "compare_empty": ("compare", {}),
    "catalog": ("catalog", {}),
    "accuracy": ("accuracy", {}),
    "profiles": ("profiles", {}),
    "plans": ("plans", {}),
}
# They show what the store holds: example plans of their own.
WITH_EXAMPLES: Final = ("plans",)
SIZES: Final = ((1280, 900), (390, 844))
Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
TALLEST: Final = 6000


def main() -> int:
    """Write one picture per screen, width and appearance."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or list(SCREENS)
    if usual := [name for name in names if name not in WITH_EXAMPLES]:
        _shoot_all(usual, folder)
    if stored := [name for name in names if name in WITH_EXAMPLES]:
        with example_data(COMPARED):
            _shoot_all(stored, folder)
    return 0


def _shoot_all(names: Sequence[str], folder: Path) -> None:
    with app_and_browser() as (url, _, browser):
        for name in names:
            place, address = SCREENS[name]
            target = f"{url}/{place}?{urlencode(address, doseq=True)}"
            for width, height in SIZES:
                for scheme in SCHEMES:
                    path = folder / f"{name}_{width}_{scheme}.png"
                    _shoot(browser, target, width, height, scheme, path)
                    print(path)


def _shoot(
    browser: Browser, address: str, width: int, height: int, scheme: Scheme, path: Path
) -> None:
    """Open the address, wait until nothing moves, and take the whole page."""
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.set_default_timeout(120_000)
    page.goto(address)
    wait_until_still(page)
    for _ in range(2):  # a taller window gives charts and tables their full height
        tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": width, "height": min(int(tall) + 20, TALLEST)})
        page.wait_for_timeout(1000)
    page.screenshot(path=path)
    page.close()


def wait_until_still(page: Page) -> None:
    """Wait until the page has run and what it drew has settled."""
    page.get_by_test_id("stApp").wait_for()
    page.wait_for_function(
        "document.querySelector('[data-test-script-state]')?.dataset.testScriptState"
        " === 'notRunning'"
    )
    page.wait_for_timeout(1500)


if __name__ == "__main__":
    sys.exit(main())
