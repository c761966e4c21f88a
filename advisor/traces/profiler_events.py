"""What is kept of the events of the PyTorch profiler: device work, launches, steps, memory."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.traces.chrome_event import Args
from advisor.traces.device_time import COPY, KERNEL, DeviceWork
from advisor.traces.profiler_kinds import COPIES, FLOWS, KERNELS, LAUNCHES, STACKS
from advisor.traces.profiler_shapes import Shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from advisor.traces.chrome_event import Event

_DEVICE_KINDS: Final = {**dict.fromkeys(KERNELS, KERNEL), **dict.fromkeys(COPIES, COPY)}
_FOREIGN: Final = re.compile(r"^(mtia|hpu|npu|privateuse1|xla|tpu)", re.IGNORECASE)
_LOADER: Final = re.compile(r"^enumerate\(DataLoader\)#(\w+)\.__next__$")
_STEP: Final = re.compile(r"^ProfilerStep\s*#\s*(\d+)$")
# What torch.autograd.profiler calls the rows of a device; its events have no category.
_OLD_DEVICE_ROWS: Final = "CUDA functions"
_GPU_MEMORY: Final = frozenset({1.0, 6.0})  # CUDA and HIP in PyTorch's list of device types
_US: Final = 1e-6
_LATEST_US: Final = 1e18
_NO_ARGS: Final = Args()
_NAME, _TIME = attrgetter("name"), attrgetter("ts")
_DURATION, _ARGS = attrgetter("dur"), attrgetter("args")
_DEVICE, _STREAM, _CORRELATION = (attrgetter(n) for n in ("device", "stream", "correlation"))


class ProfilerEvents:
    """Collects events; all times are seconds after the first event.

    Attributes
    ----------
    work : DeviceWork
        Kernels, copies and fills.
    launch_id, launch_s : array
        Correlation number and start of each call that launched device work.
    work_id : array
        Correlation number of each row of `work`; NaN where there is none.
    steps : dict
        Start and end of each step of the profiler, by its number.
    loading, waiting : list of tuple
        Start and length of each wait of the host for a batch, and for the device.
    loaders : set of str
        What gives the batches.
    shapes : Shapes
        Shapes of operators, and messages between processes.
    peak_bytes : float
        Largest memory allocated on a device; 0 where memory was not recorded.
    foreign : Counter
        Categories of accelerators that are no GPU.
    dropped : Counter
        Events left out, by reason.
    """

    def __init__(self, most_names: int) -> None:
        self.work = DeviceWork(most_names)
        self.work_id = array("d")
        self.launch_id = array("d")
        self.launch_s = array("d")
        self.steps: dict[int, tuple[float, float]] = {}
        self.shapes = Shapes()
        self.loading: list[tuple[float, float]] = []
        self.waiting: list[tuple[float, float]] = []
        self.loaders: set[str] = set()
        self.peak_bytes = 0.0
        self.foreign: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._base_us: float | None = None

    def add(self, events: Sequence[Event]) -> None:
        """Take what is needed out of a batch.

        Most events are not needed, so they are looked at by category and in whole columns.
        """
        if self._base_us is None:
            # Arrows and lines of Python are decoded without a time.
            self._base_us = next((ts for e in events if (ts := getattr(e, "ts", None))), None)
        by_category: dict[str | None, list[Event]] = defaultdict(list)
        for event in events:
            by_category[event.cat].append(event)
        for category, group in by_category.items():
            if category in FLOWS:
                continue
            self._count_negative(group)
            if category in _DEVICE_KINDS:
                self._add_work([e for e in group if e.ph == "X"], _DEVICE_KINDS[category])
            elif category in LAUNCHES:
                self._add_launches([e for e in group if e.args is not None])
                waits = {n for n in set(map(_NAME, group)) if str(n).endswith("Synchronize")}
                if waits:
                    self._add_spans(self.waiting, [e for e in group if e.name in waits])
            elif category and _FOREIGN.match(category):
                self.foreign[category] += len(group)
            elif category not in STACKS:
                self._add_named(group)

    def _count_negative(self, events: Sequence[Event]) -> None:
        durations = list(filter(None, map(_DURATION, events)))
        if durations and min(durations) < 0:
            self.dropped["with a negative duration"] += sum(dur < 0 for dur in durations)

    def _add_named(self, events: Sequence[Event]) -> None:
        """Take the steps and the samples of the allocator."""
        names = set(map(_NAME, events))  # far fewer than events
        if events[0].cat is None:
            self._add_work([e for e in events if e.pid == _OLD_DEVICE_ROWS and e.ph == "X"], KERNEL)
        if steps := {name for name in names if name and _STEP.match(name)}:
            for event in events:
                if event.name in steps:
                    self._add_step(event)
        for name in names:
            if name and (loader := _LOADER.match(name)):
                self.loaders.add(loader[1])
                self._add_spans(self.loading, [e for e in events if e.name == name])
        self.shapes.add(events, names)
        if "[memory]" in names:
            samples = [
                e.args.allocated_bytes or 0.0
                for e in events
                if e.name == "[memory]" and e.args and e.args.device_type in _GPU_MEMORY
            ]
            self.peak_bytes = max([self.peak_bytes, *samples])

    def _add_work(self, events: Sequence[Event], kind: int) -> None:
        ts, dur = _column(events, _TIME), _column(events, _DURATION)
        usable = self._usable(ts, dur)
        if not usable.all():
            events = list(compress(events, usable))
            ts, dur = ts[usable], dur[usable]
        args = [_NO_ARGS if e.args is None else e.args for e in events]
        device, stream = list(map(_DEVICE, args)), list(map(_STREAM, args))
        if None in device:
            device = [e.pid if d is None else d for e, d in zip(events, device, strict=True)]
        if None in stream:
            stream = [e.tid if s is None else s for e, s in zip(events, stream, strict=True)]
        start = (ts - (self._base_us or 0.0)) * _US
        self.work.extend(
            start=start,
            end=start + dur * _US,
            device=device,
            stream=stream,
            names=[e.name or "" for e in events],
            kind=[kind] * len(events),
        )
        self.work_id.frombytes(_column(args, _CORRELATION).tobytes())

    def _usable(self, ts: NDArray[np.float64], dur: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which times can be used, and count the others by reason."""
        known = np.isfinite(ts) & np.isfinite(dur)
        possible = (np.abs(ts) < _LATEST_US) & (dur < _LATEST_US)
        empty = (ts == 0) & (dur == 0)
        negative = dur < 0  # counted with those of the host
        self.dropped["without a time"] += int(np.count_nonzero(~known))
        self.dropped["with an impossible time"] += int(np.count_nonzero(known & ~possible))
        self.dropped["with time and duration 0"] += int(np.count_nonzero(empty))
        return np.asarray(known & possible & ~empty & ~negative, dtype=np.bool_)

    def _add_launches(self, events: Sequence[Event]) -> None:
        number = _column(list(map(_ARGS, events)), _CORRELATION)
        ts = _column(events, _TIME)
        kept = np.isfinite(number) & (np.abs(ts) < _LATEST_US) & (ts != 0)
        self.launch_id.frombytes(number[kept].tobytes())
        self.launch_s.frombytes(((ts[kept] - (self._base_us or 0.0)) * _US).tobytes())

    def _add_spans(self, spans: list[tuple[float, float]], events: Sequence[Event]) -> None:
        base = self._base_us or 0.0
        spans += [
            ((e.ts - base) * _US, e.dur * _US)
            for e in events
            if e.ph == "X" and e.ts and e.dur is not None and 0 <= e.dur < _LATEST_US
        ]

    def _add_step(self, event: Event) -> None:
        step = _STEP.match(event.name or "")
        on_device = event.cat is not None and "gpu" in event.cat.lower()
        if step is None or event.ph != "X" or on_device:
            return
        ts, dur = _column([event], _TIME), _column([event], _DURATION)
        if not self._usable(ts, dur).all():
            return
        start = (float(ts[0]) - (self._base_us or 0.0)) * _US
        end = start + float(dur[0]) * _US
        number = int(step[1])
        # A step is one interval; where threads repeat it, the longest is the step.
        known = self.steps.get(number, (0.0, 0.0))
        if end - start > known[1] - known[0]:
            self.steps[number] = (start, end)


def _column(rows: Iterable[object], field: Callable[[object], object]) -> NDArray[np.float64]:
    """Return a field of all rows as numbers, NaN where there is none."""
    return np.array(list(map(field, rows)), dtype=np.float64)
