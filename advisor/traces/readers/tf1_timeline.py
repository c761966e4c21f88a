"""Timelines of TensorFlow 1: one run of a session as a Chrome trace."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from advisor.core.errors import TraceError
from advisor.traces.chrome_json import ChromeTrace
from advisor.traces.draft import Draft
from advisor.traces.intervals import Union
from advisor.traces.jsons import number
from advisor.traces.reader import READERS
from advisor.traces.trace import CutOffError

if TYPE_CHECKING:
    from advisor.traces.chrome_event import Event
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(
    rb'"name"\s*:\s*"(?:/job:[^"]{1,80}|/(?:device:)?[cg]pu:\d+[^"]{0,40}) Compute"', re.IGNORECASE
)
_DEVICE: Final = re.compile(r"gpu:(\d+)/(?:stream:|memcpy)", re.IGNORECASE)
_COMPUTE: Final = " Compute"
_US: Final = 1e-6


@READERS.register("tf1_timeline_json")
class Tf1TimelineReader:
    """Use of the devices in one run; a file of several merged runs has no step time."""

    label: ClassVar[str] = "TensorFlow 1 timeline"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 3

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the row of a device, named as TensorFlow 1 names them."""
        return b'"traceEvents"' in head and _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all rows of devices."""
        chrome, found = ChromeTrace(source), _Found()
        for batch in chrome.batches():
            for event in batch:
                found.feed(event)
        if not found.spans:
            raise TraceError(
                "there are no operations in this timeline.",
                where=source.name,
                todo="Run the session with trace_level=FULL_TRACE.",
            )
        trace = found.describe()
        if chrome.cut_off or source.cut_off:
            what = f"the file is cut off after {chrome.events:,} events."
            raise CutOffError(what, trace, where=source.name, todo="Copy it again.")
        return trace


class _Found:
    """Rows (processes) of the timeline and the operations in them [µs]."""

    def __init__(self) -> None:
        self.names: dict[object, str] = {}
        self.spans: list[tuple[object, float, float]] = []
        self.runs: Counter[tuple[object, object]] = Counter()

    def feed(self, event: Event) -> None:
        if event.ph == "M" and event.name == "process_name" and event.args is not None:
            self.names[event.pid] = str(event.args.name)
        elif event.ph == "X":
            ts, dur = number(event.ts), number(event.dur)
            if ts is not None and dur is not None and dur >= 0:
                self.spans.append((event.pid, ts, ts + dur))
                name = event.args.name if event.args is not None else None
                self.runs[event.pid, name] += 1

    def describe(self) -> Trace:
        draft = Draft(format="tf1_timeline_json", framework="TensorFlow 1")
        first = min(start for _, start, _ in self.spans)
        span_us = max(end for _, _, end in self.spans) - first
        devices = {
            found[1]
            for name in self.names.values()
            if name.endswith(_COMPUTE) and (found := _DEVICE.search(name))
        }
        draft.gpus = len(devices)
        if devices and span_us > 0:
            busy = [self._busy_us(device, first) for device in sorted(devices)]
            draft.gpu_busy_share = float(np.mean(busy)) / span_us
        else:
            draft.warn("No row of a GPU: shares of GPU time are not available.")
        self._set_step(draft, span_us)
        draft.warn("The timeline names no GPU model, no batch and no communication.")
        return draft.finish()

    def _set_step(self, draft: Draft, span_us: float) -> None:
        # One run executes each operation of a device's own row once, but for loops.
        counts = [
            count
            for (pid, _), count in self.runs.items()
            if "/stream:" not in self.names.get(pid, "")
        ]
        runs = int(np.median(counts)) if counts else 1
        if runs > 1:
            draft.warn(
                f"About {runs} runs are merged in this file and not marked, so the step time is "
                "not available; write one timeline per session.run."
            )
            return
        draft.step_time_s, draft.steps = span_us * _US or None, 1
        draft.warn(
            "One session.run, taken as one step; the first ones include start-up and are slower."
        )

    def _busy_us(self, device: str, first: float) -> float:
        """Union of all rows of a device: the row stream:all repeats those of its streams."""
        mine = {
            pid
            for pid, name in self.names.items()
            if name.endswith(_COMPUTE) and (found := _DEVICE.search(name)) and found[1] == device
        }
        times = [(start - first, end - first) for pid, start, end in self.spans if pid in mine]
        columns = np.array(times, dtype=float).reshape(-1, 2)
        return Union.of(columns[:, 0], columns[:, 1]).length
