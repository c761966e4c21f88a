"""Memory of the served app: idle, after many reruns, and while a large file is uploaded.

``python -m benchmarks.memory [--json]``; Linux only, it reads ``/proc``.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from advisor.testing.uploads import write_large_trace
from benchmarks import report
from benchmarks.app_browser import app_and_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RERUNS: Final = 1000
WARM_UP: Final = 100
IDLE_BAR_MB: Final = 600.0
GROWTH_BAR_MB: Final = 30.0  # what an allocator keeps; a leak of one table per rerun is 1,000 MB
UPLOAD_MB: Final = 200.0
UPLOAD_BAR_MB: Final = 500.0
MB: Final = 1e6
# Every key press reruns the page; the last one is waited for before the next.
TYPE_DEADLINE: Final = """
(text) => document.querySelector('.st-key-card_cheapest')?.innerText.includes(text)
  && document.querySelector('.st-key-card_safest')?.innerText.includes(text)
"""


def main() -> int:
    """Measure one server: idle, 1,000 reruns, one large upload."""
    parser = report.parser(__doc__ or "")
    parser.add_argument("--reruns", type=int, default=RERUNS, help="default %(default)s")
    options = parser.parse_args()
    with app_and_browser() as (url, pid, browser):
        rows = _reruns(browser, url, pid, options.reruns)
        rows += _upload(browser, url, pid)
    return report.show(rows, as_json=options.json)


def _reruns(browser: Browser, url: str, pid: int, count: int) -> list[report.Row]:
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(120_000)
    page.goto(url)
    page.locator(".st-key-card_safest").wait_for()
    idle = _resident_mb(pid)
    _change_deadline(page, WARM_UP)
    before = _resident_mb(pid)
    _change_deadline(page, count)
    after = _resident_mb(pid)
    page.close()
    return [
        report.at_most("memory.idle", idle, "MB", IDLE_BAR_MB),
        report.Row("memory.after_warm_up", before, "MB"),
        report.Row("memory.reruns", count, "count"),
        report.at_most("memory.growth_of_reruns", after - before, "MB", GROWTH_BAR_MB),
    ]


def _change_deadline(page: Page, count: int) -> None:
    field = page.get_by_label("Deadline, h")
    for index in range(count):
        hours = 20 + index % 40
        field.fill(str(hours))
        field.press("Enter", no_wait_after=True)
        page.wait_for_function(TYPE_DEADLINE, arg=f"Within {hours}")


def _upload(browser: Browser, url: str, pid: int) -> list[report.Row]:
    """Upload a trace on the Profiles page; the peak is sampled from outside."""
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(300_000)
    page.goto(f"{url}/profiles")
    page.get_by_text("Tick one to correct it").wait_for()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.pt.trace.json"
        write_large_trace(path, UPLOAD_MB * MB)
        size = path.stat().st_size / MB
        before, begin = _resident_mb(pid), time.monotonic()
        with _Peak(pid) as peak:
            page.locator("input[type=file]").set_input_files(path)
            page.locator(".st-key-upload_0").get_by_text("100\xa0ms").wait_for()
        seconds = time.monotonic() - begin
    page.wait_for_timeout(2000)
    after = _resident_mb(pid)
    page.close()
    return [
        report.Row("memory.upload_size", size, "MB"),
        report.Row("memory.upload_time", seconds, "s"),
        report.at_most("memory.upload_peak", peak.most_mb - before, "MB", UPLOAD_BAR_MB),
        report.Row("memory.after_upload", after - before, "MB"),
    ]


class _Peak:
    """The most memory that a process holds while the block runs, sampled every 20 ms."""

    def __init__(self, pid: int) -> None:
        self.most_mb = 0.0
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.is_set():
            self.most_mb = max(self.most_mb, _resident_mb(self._pid))
            time.sleep(0.02)


def _resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its children, in MB."""
    total = 0
    for each in (pid, *_children(pid)):
        text = Path(f"/proc/{each}/status").read_text(encoding="ascii", errors="replace")
        total += int(text.split("VmRSS:")[1].split()[0]) * 1024 if "VmRSS:" in text else 0
    return total / MB


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


if __name__ == "__main__":
    sys.exit(main())
