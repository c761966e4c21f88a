"""``trace.json.gz`` of JAX and TensorFlow 2, which TensorBoard keeps beside the XPlane file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from advisor.core.errors import TraceError
from advisor.traces.chrome_json import ChromeTrace
from advisor.traces.device_time import COPY, KERNEL, DeviceWork, shares
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.reader import READERS
from advisor.traces.trace import CutOffError

if TYPE_CHECKING:
    from advisor.traces.chrome_event import Event, Label
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb'"name"\s*:\s*"/(?:device:(?:GPU|TPU):\d+|host:CPU)')
_DEVICE: Final = re.compile(r"^/device:(GPU|TPU):(\d+)")
_STREAM: Final = re.compile(r"^Stream #\d+")
_COPY: Final = re.compile(r"memcpy|memset|copy-(?:start|done)", re.IGNORECASE)
_US: Final = 1e-6
# The file is cut by its writer at this many events.
_WRITTEN_EVENTS: Final = 1_000_000

Row = tuple["Label", "Label"]


@READERS.register("xla_trace_json")
class XlaTraceReader:
    """Use of the devices from their streams; steps where the program marked them."""

    label: ClassVar[str] = "JAX or TensorFlow 2 trace.json"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 4

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the row of a device, named as XLA names them."""
        return b'"traceEvents"' in head and _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all rows of devices."""
        chrome, found = ChromeTrace(source), _Found(source.limits.names)
        for batch in chrome.batches():
            for event in batch:
                found.feed(event)
        if not chrome.events:
            raise TraceError(
                "there are no events in this trace.",
                where=source.name,
                todo="See that the profiler was running during a step.",
            )
        trace = found.describe(chrome.events)
        if chrome.cut_off or source.cut_off:
            what = f"the file is cut off after {chrome.events:,} events."
            raise CutOffError(what, trace, where=source.name, todo="Copy it again.")
        return trace


class _Found:
    """Rows are named before their events come."""

    def __init__(self, most_names: int) -> None:
        self.devices: dict[Label, tuple[str, int]] = {}
        self.rows: dict[Row, str] = {}
        self.work = DeviceWork(most_names)
        self.steps: dict[Label, list[tuple[float, float]]] = {}
        self._base_us: float | None = None

    def feed(self, event: Event) -> None:
        if event.ph == "M":
            name = str(event.args.name) if event.args is not None else ""
            if event.name == "process_name" and (device := _DEVICE.match(name)):
                self.devices[event.pid] = (device[1], int(device[2]))
            elif event.name == "thread_name":
                self.rows[event.pid, event.tid] = name
        elif event.ph == "X" and event.pid in self.devices:
            ts, dur = number(event.ts), number(event.dur)
            if ts is not None and dur is not None and dur >= 0:
                self._add(event, ts, dur)

    def _add(self, event: Event, ts: float, dur: float) -> None:
        if self._base_us is None:
            self._base_us = ts
        start = (ts - self._base_us) * _US
        kind, device = self.devices[event.pid]
        row = self.rows.get((event.pid, event.tid), "")
        if row == "Steps":
            self.steps.setdefault(event.pid, []).append((start, start + dur * _US))
        # Rows of modules, scopes and operations repeat what the streams of a GPU show.
        elif _STREAM.match(row) if kind == "GPU" else row == "XLA Ops":
            name = event.name or ""
            self.work.extend(
                start=[start],
                end=[start + dur * _US],
                device=[device],
                stream=[row],
                names=[name],
                kind=[COPY if _COPY.search(name) else KERNEL],
            )

    def describe(self, events: int) -> Trace:
        draft = Draft(format="xla_trace_json", framework="XLA")
        draft.gpus = len({device for _, device in self.devices.values()})
        window = self._set_step(draft)
        used = shares(self.work, window) if len(self.work) else None
        if used is None:
            draft.warn("No work of a device was recorded: shares of its time are not available.")
        else:
            used.describe(draft, self.work)
        if events >= _WRITTEN_EVENTS:
            draft.warn("The file holds a million events, where its writer stops: a part only.")
        return draft.finish()

    def _set_step(self, draft: Draft) -> tuple[float, float] | None:
        longest = max(self.steps.values(), key=len, default=[])
        if not longest:
            draft.warn(
                "No step marker observed, so the step time is not available; mark steps with "
                "jax.profiler.StepTraceAnnotation."
            )
            return None
        starts, ends = np.array(sorted(longest)).T
        times = np.diff(starts) if starts.size > 1 else ends - starts
        draft.step_time_s, draft.steps = float(np.median(times)), int(starts.size)
        return float(starts[0]), float(ends.max())
