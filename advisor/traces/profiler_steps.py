"""The step time of a profiled process.

The host runs ahead of the device, so a host step says how long it took to launch the work, not to
do it. The time between the last device work of one step and of the next is the step time.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.traces.trace import HostTime

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from advisor.traces.profiler_events import ProfilerEvents

# A profiler that is stopped at the start of a step leaves an empty one behind.
_STUB_SHARE: Final = 0.02
_SHOWN: Final = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class StepTimes:
    """Steps of one process; all times in seconds.

    Attributes
    ----------
    numbers : tuple of int
        The steps that count.
    host_s : float
        Median of the host's steps.
    period_s : float or None
        Median time between the ends of the device work of consecutive steps.
    window : tuple of float
        From the start of the first to the end of the last step.
    stubs : int
        Steps left out because they are almost empty.
    in_order : bool
        Whether each step ends before the next one ends and begins.
    """

    numbers: tuple[int, ...]
    host_s: float
    period_s: float | None
    window: tuple[float, float]
    stubs: int
    in_order: bool

    @property
    def answer_s(self) -> float:
        """The step time."""
        return self.host_s if self.period_s is None else self.period_s


def step_times(events: ProfilerEvents) -> StepTimes | None:
    """Return the steps of a process, None where none were recorded."""
    steps = {n: span for n, span in sorted(events.steps.items()) if span[1] > span[0]}
    if not steps:
        return None
    # The middle, not the longest: a first step that compiles must not push the others out.
    usual_s = statistics.median_high(end - start for start, end in steps.values())
    kept = {n: span for n, span in steps.items() if span[1] - span[0] >= _STUB_SHARE * usual_s}
    numbers = np.array(list(kept), dtype=np.int64)
    starts, ends = np.array(list(kept.values())).T
    return StepTimes(
        numbers=tuple(kept),
        host_s=float(np.median(ends - starts)),
        period_s=_device_period(events, numbers, starts, ends),
        window=(
            min(start for start, _ in steps.values()),
            max(end for _, end in steps.values()),
        ),
        stubs=len(steps) - len(kept),
        in_order=bool((np.diff(starts) > 0).all() and (np.diff(ends) > 0).all()),
    )


def host_time(events: ProfilerEvents, steps: StepTimes | None) -> HostTime | None:
    """Return what the host did in its steps, None where no steps were recorded."""
    if steps is None:
        return None
    first, last = steps.window
    count = len(steps.numbers)

    def per_step(spans: list[tuple[float, float]]) -> float:
        return sum(length for start, length in spans if first <= start < last) / count

    launched = _launch_times(events) if len(events.work) else np.empty(0)
    inside = int(np.count_nonzero((launched >= first) & (launched < last)))
    return HostTime(
        steps_s=tuple(events.steps[n][1] - events.steps[n][0] for n in steps.numbers[:_SHOWN]),
        loading_s=per_step(events.loading),
        loader_in_process=any("SingleProcess" in name for name in events.loaders),
        sync_s=per_step(events.waiting),
        launches=inside / count,
    )


def _device_period(
    events: ProfilerEvents,
    numbers: NDArray[np.int64],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> float | None:
    if len(events.work) == 0 or numbers.size < 2:
        return None
    launched = _launch_times(events)
    order = np.argsort(starts, kind="stable")
    at = np.searchsorted(starts[order], launched, side="right") - 1
    step = order[np.maximum(at, 0)]
    inside = (at >= 0) & (launched < ends[step])  # False where the launch is unknown (NaN)
    last = np.full(numbers.size, -np.inf)
    np.maximum.at(last, step[inside], events.work.end[inside])
    with np.errstate(invalid="ignore"):
        periods = np.diff(last)
    good = (np.diff(numbers) == 1) & np.isfinite(periods) & (periods > 0)
    return float(np.median(periods[good])) if good.any() else None


def _launch_times(events: ProfilerEvents) -> NDArray[np.float64]:
    """Return when the work of each row was launched; NaN where that is not recorded."""
    work_id = np.frombuffer(events.work_id)
    if not len(events.launch_id):
        return np.full(work_id.size, np.nan)
    launch_id, launch_s = np.frombuffer(events.launch_id), np.frombuffer(events.launch_s)
    order = np.lexsort((launch_s, launch_id))  # of several calls with one number the first
    sorted_id = launch_id[order]
    at = np.minimum(np.searchsorted(sorted_id, work_id), sorted_id.size - 1)
    return np.where(sorted_id[at] == work_id, launch_s[order][at], np.nan)
