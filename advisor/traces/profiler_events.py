"""What is kept of the events of the PyTorch profiler: device work, launches, steps, memory."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

from advisor.traces.device_time import COPY, KERNEL, DeviceWork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces.chrome_event import Event

# The profiler of 2021 wrote the capitals.
_DEVICE_KINDS: Final = {
    **dict.fromkeys(("kernel", "Kernel", "concurrent_kernel"), KERNEL),
    **dict.fromkeys(
        ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset", "memcpy", "memset", "gpu_memcpy_p2p"), COPY
    ),
}
_LAUNCHES: Final = frozenset(
    {
        *("cuda_runtime", "cuda_driver", "Runtime", "runtime", "hip_runtime", "hip_driver"),
        *("xpu_runtime", "xpu_driver", "privateuse1_runtime", "privateuse1_driver"),
    }
)
_FOREIGN: Final = re.compile(r"^(mtia|hpu|npu|privateuse1|xla|tpu)", re.IGNORECASE)
_STEP: Final = re.compile(r"^ProfilerStep\s*#\s*(\d+)$")
_GPU_MEMORY: Final = frozenset({1.0, 6.0})  # CUDA and HIP in PyTorch's list of device types
_US: Final = 1e-6
_LATEST_US: Final = 1e18


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
        self.peak_bytes = 0.0
        self.foreign: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._base_us: float | None = None

    def add(self, events: Sequence[Event]) -> None:
        """Take what is needed out of a batch."""
        if self._base_us is None:
            self._base_us = next((e.ts for e in events if e.ts), None)
        categories = {event.cat for event in events}
        if not categories.isdisjoint(_DEVICE_KINDS):
            self._add_work([e for e in events if e.cat in _DEVICE_KINDS and e.ph == "X"])
        if not categories.isdisjoint(_LAUNCHES):
            self._add_launches([e for e in events if e.cat in _LAUNCHES and e.args is not None])
        foreign = {c for c in categories if c and _FOREIGN.match(c)}
        if foreign:
            self.foreign.update(e.cat for e in events if e.cat in foreign)
        negative = [e for e in events if e.dur is not None and e.dur < 0]
        self.dropped["with a negative duration"] += len(negative)
        names = {event.name for event in events}  # far fewer than events
        if steps := {name for name in names if name and _STEP.match(name)}:
            for event in events:
                if event.name in steps:
                    self._add_step(event)
        if "[memory]" in names:
            samples = [
                e.args.allocated_bytes or 0.0
                for e in events
                if e.name == "[memory]" and e.args and e.args.device_type in _GPU_MEMORY
            ]
            self.peak_bytes = max([self.peak_bytes, *samples])

    def _add_work(self, events: Sequence[Event]) -> None:
        kept = [e for e in events if self._is_usable(e)]
        base = self._base_us or 0.0
        args = [e.args for e in kept]
        start = [((e.ts or 0.0) - base) * _US for e in kept]
        self.work.extend(
            start=start,
            end=[at + (e.dur or 0.0) * _US for at, e in zip(start, kept, strict=True)],
            device=[
                e.pid if a is None or a.device is None else a.device
                for e, a in zip(kept, args, strict=True)
            ],
            stream=[
                e.tid if a is None or a.stream is None else a.stream
                for e, a in zip(kept, args, strict=True)
            ],
            names=[e.name or "" for e in kept],
            kind=[_DEVICE_KINDS[e.cat or ""] for e in kept],
        )
        nan = float("nan")
        self.work_id.extend(
            [nan if a is None or a.correlation is None else a.correlation for a in args]
        )

    def _is_usable(self, event: Event) -> bool:
        if event.ts is None or event.dur is None:
            self.dropped["without a time"] += 1
        elif event.dur < 0:
            pass  # counted with those of the host
        elif not (abs(event.ts) < _LATEST_US and event.dur < _LATEST_US):
            self.dropped["with an impossible time"] += 1
        elif event.ts == 0 and event.dur == 0:
            self.dropped["with time and duration 0"] += 1
        else:
            return True
        return False

    def _add_launches(self, events: Sequence[Event]) -> None:
        base = self._base_us or 0.0
        kept = [
            (e.args.correlation, (e.ts - base) * _US)
            for e in events
            if e.args is not None and e.args.correlation is not None and e.ts
        ]
        self.launch_id.extend([number for number, _ in kept])
        self.launch_s.extend([at for _, at in kept])

    def _add_step(self, event: Event) -> None:
        step = _STEP.match(event.name or "")
        on_device = event.cat is not None and "gpu" in event.cat.lower()
        if step is None or event.ph != "X" or on_device or not self._is_usable(event):
            return
        start = ((event.ts or 0.0) - (self._base_us or 0.0)) * _US
        end = start + (event.dur or 0.0) * _US
        number = int(step[1])
        # A step is one interval; where threads repeat it, the longest is the step.
        known = self.steps.get(number, (0.0, 0.0))
        if end - start > known[1] - known[0]:
            self.steps[number] = (start, end)
