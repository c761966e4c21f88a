"""Logs of torchtitan."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import GIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import median
from advisor.traces.pace import Pace, stamp_s
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb"step: +\d+\b[^\n]{0,300}[tw]ps: +[\d,]+")
_STEP: Final = re.compile(
    r"step:\s+(\d{1,15})\s.{0,200}?(?:memory:\s+([\d.]+)GiB.{0,50}?)?\b(?:tps|wps):\s+([\d,]+)"
)
_BATCH: Final = re.compile(
    r"local batch size:? (\d{1,15}), global batch size:? (\d{1,15})"
    r"(?:, gradient accumulation steps:? (\d{1,15}))?(?:, sequence length:? (\d{1,15}))?"
)
_DEVICE: Final = re.compile(r"\b[A-Z]+ capacity: (.{1,100}?)(?: \(\d+\))? with ([\d.]+)GiB memory")
_MODEL: Final = re.compile(r"Model (.{1,60}?) size: ([\d,]+) total parameters")
_MESH: Final = re.compile(r"device mesh with \[([^\]]*)\], \[([\d, ]+)\]")
# Since late 2025; expert parallelism is a part of the other axes.
_PARALLELISM: Final = re.compile(r"device mesh with parallelism: ((?:\w+=\d{1,9},? *)+)")
_NOT_MULTIPLIED: Final = frozenset({"ep", "etp"})
_APPLIED: Final = re.compile(r"Applied .{0,40}(?:Tensor|Pipeline|Context) Parallel", re.IGNORECASE)
_AXES: Final = {"tp": "tp", "pp": "pp", "cp": "cp", "ep": "ep"}


@dataclass
class _Found:
    pace: Pace = field(default_factory=Pace)
    rates: list[tuple[int, float]] = field(default_factory=list)
    peak_bytes: float = 0.0
    batch: re.Match[str] | None = None
    mesh: dict[str, int] = field(default_factory=dict)
    more_than_data: bool = False

    def feed(self, line: str, draft: Draft) -> None:
        if found := _STEP.search(line) if "ps:" in line else None:
            step = int(found[1])
            if (at := stamp_s(line)) is not None:
                self.pace.add(step, at)
            self.rates.append((step, float(found[3].replace(",", "") or 0)))
            self.peak_bytes = max(self.peak_bytes, (above_zero(found[2] or "") or 0.0) * GIB)
        elif device := _DEVICE.search(line):
            draft.gpu_name = draft.gpu_name or device[1]
            draft.gpu_memory_bytes = (above_zero(device[2]) or 0.0) * GIB or None
        elif model := _MODEL.search(line):
            draft.model = draft.model or model[1]
            draft.params = above_zero(model[2].replace(",", ""))
        elif mesh := _MESH.search(line):
            names = re.findall(r"\w+", mesh[1])
            sizes = [int(size) for size in re.findall(r"\d+", mesh[2])]
            self.mesh = self.mesh or dict(zip(names, sizes, strict=False))
        elif mesh := _PARALLELISM.search(line):
            degrees = {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", mesh[1])}
            self.mesh = self.mesh or degrees
        elif _APPLIED.search(line):
            self.more_than_data = True
        elif self.batch is None:
            self.batch = _BATCH.search(line)


@READERS.register("torchtitan_log")
class TorchtitanReader:
    """Step time from the clock of the lines; its tokens per second are those of one device."""

    label: ClassVar[str] = "torchtitan log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 11

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of a step."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        draft, found = Draft(format="torchtitan_log", framework="torchtitan"), _Found()
        for line in source.lines():
            found.feed(line, draft)
        if not found.rates:
            raise TraceError(
                "no line of a step is complete.", where=source.name, todo="Upload the whole log."
            )
        draft.peak_memory_bytes = found.peak_bytes or None
        _set_batch(draft, found)
        _set_steps(draft, found)
        return draft.finish()


def _set_batch(draft: Draft, found: _Found) -> None:
    if found.mesh:
        sizes = [size for name, size in found.mesh.items() if name not in _NOT_MULTIPLIED]
        draft.gpus = math.prod(sizes)
        data = math.prod(size for name, size in found.mesh.items() if name.startswith("dp"))
        degrees = {n: s for n, s in found.mesh.items() if n in _AXES and s > 1}
        draft.layout = ";".join(f"{n}={s}" for n, s in {**degrees, "dp": data}.items())
    if found.batch is None:
        return
    local, whole, accumulation, sequence = (int(v) if v else None for v in found.batch.groups())
    draft.micro_batch, draft.global_batch = local, whole
    draft.sequence_length = sequence
    if found.more_than_data and not found.mesh:
        draft.warn("The log has no line of the device mesh, so how many devices there are is not "
                   "told.")  # fmt: skip
    elif local and whole and not found.mesh:
        draft.gpus = whole // (local * (accumulation or 1))
        draft.layout = f"dp={draft.gpus}"


def _set_steps(draft: Draft, found: _Found) -> None:
    first = found.rates[0][0]
    steady = [rate for step, rate in found.rates if step > first and rate > 0]
    per_device = median(steady)
    draft.step_time_s = found.pace.step_time_s
    draft.steps = found.pace.steps or None
    if per_device is None:
        draft.warn("Only the first step is logged; it is start-up, not a step time.")
        draft.step_time_s = None
        return
    draft.warn("The first line, which includes start-up, does not count.")
    if draft.gpus:
        draft.throughput, draft.throughput_unit = per_device * draft.gpus, "tokens/s"
        draft.warn(f"The log gives {per_device:,.0f} tokens/s per device; {draft.gpus} devices.")
    else:
        draft.warn(
            f"The log gives {per_device:,.0f} tokens/s per device, and not how many devices: the "
            "throughput of the job is not available."
        )
    tokens = (draft.global_batch or 0) * (draft.sequence_length or 0)
    if draft.step_time_s is None and tokens and draft.throughput:
        draft.step_time_s, draft.steps = tokens / draft.throughput, len(steady)
