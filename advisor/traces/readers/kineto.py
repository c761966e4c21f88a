"""Traces of the PyTorch profiler (Kineto), from 2021 to now, CUDA and ROCm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.chrome_json import ChromeTrace
from advisor.traces.device_time import Shares, shares
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.profiler_events import ProfilerEvents
from advisor.traces.profiler_kinds import decode
from advisor.traces.profiler_steps import StepTimes, host_time, step_times
from advisor.traces.reader import READERS
from advisor.traces.scrub import counted
from advisor.traces.trace import CutOffError, RankRow, Trace

if TYPE_CHECKING:
    from advisor.traces.source import Source

_OBJECT: Final = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\{")
_LIST: Final = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\[\s*(?:\{[^{}]{0,400}"ph"\s*:)')
# A kernel that is so many times as long as usual and runs into the next one has a broken end.
_ABSURD_TIMES: Final = 100.0
# No training step leaves the device idle like this; the first one, which compiles, does.
_COMPILE_S: Final = 1.0
_COMPILE_BUSY: Final = 0.001


@READERS.register("kineto_chrome_trace")
class KinetoReader:
    """Steps, use of the devices, communication and memory of one process."""

    label: ClassVar[str] = "PyTorch profiler trace"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 50

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a Chrome trace; other programs that write one are asked first."""
        if _LIST.match(head):
            return True
        return _OBJECT.match(head) is not None and (
            b'"traceEvents"' in head or b'"deviceProperties"' in head
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the trace of one process."""
        chrome = ChromeTrace(source, decode)
        events = ProfilerEvents(source.limits.names)
        for batch in chrome.batches():
            events.add(batch)
            source.saw_steps(len(events.steps))
        if chrome.events == 0:
            raise _no_events(source, chrome)
        trace = _describe(chrome, events)
        if chrome.cut_off or source.cut_off:
            raise _cut_off(source, chrome, trace)
        return trace


def _describe(chrome: ChromeTrace, events: ProfilerEvents) -> Trace:
    draft = Draft(format="kineto_chrome_trace", framework="PyTorch")
    _warn_of_damage(draft, chrome, events)
    clipped = events.work.clip_overflows(_ABSURD_TIMES) if len(events.work) else 0
    if clipped:
        draft.warn(
            f"Cut back: the ends of {counted(clipped, 'kernel')} that lie absurdly far within the "
            "next one of the stream."
        )
    steps = step_times(events)
    used = shares(events.work, steps.window if steps else None) if len(events.work) else None
    _set_devices(draft, chrome.meta, events)
    _set_steps(draft, steps, used)
    if used is not None:
        used.describe(draft, events.work)
    elif not events.foreign:
        draft.warn(
            "No work of a GPU was recorded, so shares of GPU time are not available; add "
            "ProfilerActivity.CUDA to the profiler."
        )
    draft.operators, draft.collectives = events.shapes.operators(), events.shapes.collectives()
    draft.host = host_time(events, steps)
    draft.peak_memory_bytes = events.peak_bytes or None
    draft.ranks = (_rank_row(draft, chrome.meta),)
    return draft.finish()


def _set_devices(draft: Draft, meta: dict[str, Any], events: ProfilerEvents) -> None:
    listed = meta.get("deviceProperties")
    devices = [d for d in listed if isinstance(d, dict)] if isinstance(listed, list) else []
    known = events.work.devices
    used = [d for d in devices if any(d.get("id") == label for label in known)] or devices
    if devices:
        draft.gpus_on_host = len(devices)
        draft.gpu_name = str(used[0].get("name") or "") or None
        draft.gpu_memory_bytes = above_zero(used[0].get("totalGlobalMem"))
    if events.foreign and not len(events.work):
        name = draft.gpu_name or "unknown"
        draft.warn(
            f"The accelerator “{name}” is no GPU (events of category "
            f"“{events.foreign.most_common(1)[0][0]}”); its use is not read."
        )
        return
    if not len(events.work):
        draft.gpus = 0
        return
    world = _whole(_distributed(meta).get("world_size"))
    draft.gpus = max(world or 0, len(events.work.devices))
    if world is None and (draft.gpus_on_host or 0) > draft.gpus:
        draft.warn(
            f"The file does not say how many processes the job has; the {draft.gpus_on_host} GPUs "
            f"of the machine are listed, {draft.gpus} of them did work here."
        )


def _set_steps(draft: Draft, steps: StepTimes | None, used: Shares | None) -> None:
    if steps is None:
        draft.warn(
            "No steps are marked, so the step time is not available; call profiler.step() after "
            "each optimizer step."
        )
        return
    draft.steps = len(steps.numbers)
    if steps.stubs:
        draft.warn(f"Not counted: {counted(steps.stubs, 'almost empty step')} of the recording.")
    if not steps.in_order:
        draft.warn("The marked steps overlap or are out of order; their number is kept.")
    idle = used is not None and used.busy < _COMPILE_BUSY
    if draft.steps == 1 and idle and steps.host_s > _COMPILE_S:
        draft.warn(
            f"The only step took {steps.host_s:.1f} s with the GPU idle: it started up or "
            "compiled. That is no step time; record a few steps after warm-up."
        )
        return
    # Clocks of host and device agree to a microsecond at best.
    draft.step_time_s = round(steps.answer_s, 6) or steps.answer_s
    if draft.steps == 1:
        draft.warn("Only one step was recorded; three to five after warm-up say more.")
    elif steps.period_s is None and used is not None:
        draft.warn("The GPU work cannot be assigned to steps; the step time is the host's.")
    elif steps.period_s is not None and steps.period_s > 1.1 * steps.host_s:
        draft.warn(
            f"The host runs ahead of the GPU: its steps take {steps.host_s * 1e3:.4g} ms, those "
            f"of the GPU {steps.period_s * 1e3:.4g} ms, which counts."
        )


def _rank_row(draft: Draft, meta: dict[str, Any]) -> RankRow:
    rank = _whole(_distributed(meta).get("rank"))
    if rank is None:
        draft.warn("The file does not say which rank it is of; taken as rank 0.")
    return RankRow(
        rank=rank or 0,
        steps=draft.steps,
        step_time_s=draft.step_time_s,
        gpu_busy_share=draft.gpu_busy_share,
        comm_share=draft.comm_share,
        comm_exposed_share=draft.comm_exposed_share,
        peak_memory_bytes=draft.peak_memory_bytes,
    )


def _distributed(meta: dict[str, Any]) -> dict[str, Any]:
    info = meta.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def _whole(value: object) -> int | None:
    try:
        number = int(str(value))
    except ValueError:
        return None
    return number if 0 <= number < 10**7 else None


def _warn_of_damage(draft: Draft, chrome: ChromeTrace, events: ProfilerEvents) -> None:
    where = "" if chrome.first_damage is None else f", the first at byte {chrome.first_damage:,}"
    if chrome.mended:
        draft.warn(
            f"Not valid JSON: {chrome.mended} of {chrome.events:,} events{where}. They were read "
            "all the same, values that are no numbers as missing."
        )
    if chrome.lost:
        draft.warn(f"Left out: {counted(chrome.lost, 'event')} that cannot be read{where}.")
    if chrome.meta_broken:
        draft.warn("What stands behind the events is not valid JSON, and is left out.")
    for reason, count in sorted((+events.dropped).items()):
        draft.warn(f"Left out: {counted(count, 'event')} {reason}.")
    if events.work.names.overflowed:
        draft.warn("There are too many kernel names; the rarer ones are counted together.")


def _no_events(source: Source, chrome: ChromeTrace) -> TraceError:
    if chrome.cut_off or source.cut_off:
        return TraceError(
            "the file is cut off before its first event.",
            where=source.name,
            todo="Copy it again from where it was recorded.",
        )
    return TraceError(
        "there are no events in this trace.",
        where=source.name,
        todo="See that the profiler was running during a step, and had activities to record.",
    )


def _cut_off(source: Source, chrome: ChromeTrace, trace: Trace) -> CutOffError:
    what = f"the file is cut off after {chrome.events:,} events."
    warnings = (f"Only the first part was read: {what}", *trace.warnings)
    return CutOffError(
        what,
        trace.model_copy(update={"warnings": warnings}),
        where=source.name,
        todo="Copy it again, or use the part that can be read.",
    )
