"""How fast the page answers: a constraint changed until the new picks are on the page.

``python -m benchmarks.ui_latency [--json]``
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import report
from benchmarks.app_browser import app_and_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

DEADLINES: Final = [48, 36, 30, 24, 20, 16, 12, 10, 8, 7, 6, 5, 9, 11, 14, 18, 22, 28, 34, 60]
BAR_MS: Final = 300.0
# Written by the page itself, so that the clock of the browser measures, not the test driver.
WATCH: Final = """
(text) => new Promise((resolve) => {
  const begin = performance.now();
  const done = () => document.querySelector('.st-key-card_cheapest')?.innerText.includes(text)
    && document.querySelector('.st-key-card_safest')?.innerText.includes(text);
  const watch = () => done() ? resolve(performance.now() - begin) : requestAnimationFrame(watch);
  watch();
})
"""


def main() -> int:
    """Change the deadline twenty times and time each until all cards show it."""
    parser = report.parser(__doc__ or "")
    options = parser.parse_args()
    with app_and_browser() as (url, pid, browser):
        page = browser.new_page(viewport={"width": 1280, "height": 1400}, reduced_motion="reduce")
        page.set_default_timeout(120_000)
        first = _first_visit_s(page, url)
        _change_deadline(page, 71)
        cpu = _cpu_s(pid)
        times = [_change_deadline(page, value) for value in DEADLINES]
        used = (_cpu_s(pid) - cpu) / len(DEADLINES) * 1000
    times.sort()
    rows = [
        report.at_most("ui_latency.constraint_p50", statistics.median(times), "ms", BAR_MS),
        report.Row("ui_latency.constraint_p90", times[int(0.9 * len(times))], "ms"),
        report.Row("ui_latency.cpu_per_rerun", used, "ms"),
        report.Row("ui_latency.first_visit", first, "s"),
    ]
    return report.show(rows, as_json=options.json)


def _first_visit_s(page: Page, url: str) -> float:
    begin = time.perf_counter()
    page.goto(url)
    page.locator(".st-key-card_safest").wait_for()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    return time.perf_counter() - begin


def _change_deadline(page: Page, hours: int) -> float:
    """Return milliseconds from the key press until all cards show the new deadline."""
    field = page.get_by_label("Deadline, h")
    field.fill(str(hours))
    field.press("Enter", no_wait_after=True)
    elapsed = float(page.evaluate(WATCH, f"Within {hours}"))
    page.wait_for_timeout(700)
    return elapsed


def _cpu_s(pid: int) -> float:
    """Return processor seconds the server has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    sys.exit(main())
