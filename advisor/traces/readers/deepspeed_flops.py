"""The report of DeepSpeed's flops profiler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import unprefixed
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_TITLE: Final = b"DeepSpeed Flops Profiler"
_ROW: Final = re.compile(
    r"^([a-zA-Z+/][^:{}]{2,80}?)\s*(?:=[^:]*)?:\s+([\d.,]+(?:e[+-]?\d+)?)\s*(\w*)"
)
_PREFIX: Final = {"k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12}
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_MODULE: Final = re.compile(r"^\s*params\s+- \{'(\w+)'")


@READERS.register("deepspeed_flops_profiler")
class DeepSpeedFlopsReader:
    """One step of one device, with every line's own unit."""

    label: ClassVar[str] = "DeepSpeed flops profiler report"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 18

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the title and the first row of the report."""
        return _TITLE in head and b"Profile Summary at step" in head

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the summary; the details of modules are left aside."""
        rows: dict[str, tuple[float, str]] = {}
        draft = Draft(format="deepspeed_flops_profiler", framework="DeepSpeed")
        for line in map(unprefixed, source.lines()):
            if found := _ROW.match(line):
                value = above_zero(found[2].replace(",", ""))
                if value is not None:
                    rows.setdefault(found[1].strip().lower(), (value, found[3]))
            elif draft.model is None and (module := _MODULE.match(line)):
                draft.model = module[1]
        _set_numbers(draft, rows)
        if draft.step_time_s is None:
            raise TraceError(
                "the report has no latency of an iteration.",
                where=source.name,
                todo="Upload the part that begins with “Profile Summary at step”.",
            )
        draft.warn("One step under the profiler, whose own work is in it; a log of many says more.")
        return draft.finish()


def _set_numbers(draft: Draft, rows: dict[str, tuple[float, str]]) -> None:
    times = [_seconds(rows, name) for name in ("fwd latency", "bwd latency", "step latency")]
    draft.step_time_s = _seconds(rows, "iter latency")
    if draft.step_time_s is None and times[0] is not None and times[1] is not None:
        draft.step_time_s = sum(time for time in times if time is not None)
    draft.steps = 1 if draft.step_time_s else None
    draft.gpus = _whole(rows, "world size")
    draft.params = _count(rows, "params of model") or _count(rows, "params per gpu")
    draft.micro_batch = _count(rows, "batch size per gpu")
    data, model = _whole(rows, "data parallel size"), _whole(rows, "model parallel size")
    degrees = {"tp": model, "dp": data}
    draft.layout = ";".join(f"{name}={degree}" for name, degree in degrees.items() if degree)
    if draft.micro_batch and data:
        draft.global_batch = draft.micro_batch * data
    draft.throughput = _count(rows, "samples/second")
    draft.throughput_unit = "samples/s"
    if draft.throughput is None and draft.global_batch and draft.step_time_s:
        draft.throughput = draft.global_batch / draft.step_time_s


def _seconds(rows: dict[str, tuple[float, str]], name: str) -> float | None:
    value, unit = rows.get(name, (None, ""))
    scale = _SECONDS.get(unit)
    return value * scale if value is not None and scale is not None else None


def _count(rows: dict[str, tuple[float, str]], name: str) -> float | None:
    value, unit = rows.get(name, (None, ""))
    return None if value is None else value * _PREFIX.get(unit[:1].lower(), 1.0)


def _whole(rows: dict[str, tuple[float, str]], name: str) -> int | None:
    value = _count(rows, name)
    return int(value) if value is not None and value < 1e7 else None
