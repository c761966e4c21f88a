"""Throughput lines of DeepSpeed, old and new, and of its pipeline engine."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import GIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import LogFacts, median
from advisor.traces.pace import Pace, stamp_s
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS
from advisor.traces.scrub import counted

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(
    rb"\[timer\.py:\d+:\w+\][^\n]{0,80}SamplesPerSec=|iter time \(s\): +[\d.]+ samples/sec:"
)
_TIMER: Final = re.compile(
    r"(?:epoch=\d+/)?(?:micro_step=(?P<micro>\d{1,15})/)?(?:global_step=)?(?P<step>\d{1,15}), "
    r"(?:RunningAvg)?SamplesPerSec=(?P<average>[\d.]+)(?:, CurrSamplesPerSec=(?P<now>[\d.]+))?"
)
_PIPELINE: Final = re.compile(
    r"steps?: *\d+.{1,400}?iter time \(s\): +([\d.]+) samples/sec: +([\d.]+)"
)
_GLOBAL_STEP: Final = re.compile(r"\[Rank 0\] step=(\d{1,15}), skipped=")
_PEAK: Final = re.compile(r"MaxMemAllocated=([\d.]+)GB")
_ARGUMENT: Final = re.compile(
    r"--(per_device_train_batch_size|gradient_accumulation_steps|max_seq_len)[ =](\d{1,15})"
)


@dataclass
class _Found:
    pace: Pace = field(default_factory=Pace)
    optimizer_pace: Pace = field(default_factory=Pace)
    rates: list[float] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    arguments: dict[str, float] = field(default_factory=dict)
    accumulation: float = 1.0
    peak_bytes: float = 0.0

    def feed(self, line: str) -> None:
        if "SamplesPerSec=" in line and (timer := _TIMER.search(line)):
            self._feed_timer(timer, line)
        elif "samples/sec:" in line and (pipeline := _PIPELINE.search(line)):
            self.times_s.append(above_zero(pipeline[1]) or 0.0)
            self.rates.append(above_zero(pipeline[2]) or 0.0)
        elif "] step=" in line and (counted := _GLOBAL_STEP.search(line)):
            if (at := stamp_s(line)) is not None:
                self.optimizer_pace.add(int(counted[1]), at)
        elif "--" in line:
            for name, text in _ARGUMENT.findall(line):
                if (value := above_zero(text)) is not None:
                    self.arguments.setdefault(name, value)

    def _feed_timer(self, timer: re.Match[str], line: str) -> None:
        step, rate = int(timer["step"]), above_zero(timer["now"] or timer["average"])
        if rate is not None:
            self.rates.append(rate)
        if (at := stamp_s(line)) is not None:
            self.pace.add(step, at)
        if timer["micro"] and step:
            self.accumulation = max(1.0, round(int(timer["micro"]) / step))
        if peak := _PEAK.search(line):
            self.peak_bytes = max(self.peak_bytes, (above_zero(peak[1]) or 0.0) * GIB)


@READERS.register("deepspeed_log")
class DeepSpeedReader:
    """Step time from the clock of the lines; the logged throughput is checked against it."""

    label: ClassVar[str] = "DeepSpeed log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 14

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of the throughput timer."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        facts, found = LogFacts(), _Found()
        for line in source.lines():
            facts.feed(line)
            found.feed(line)
        if not found.rates:
            raise TraceError(
                "no line of the throughput timer has a rate.",
                where=source.name,
                todo="Set steps_per_print in the DeepSpeed configuration.",
            )
        draft = Draft(format="deepspeed_log", framework="DeepSpeed")
        draft.micro_batch = found.arguments.get("per_device_train_batch_size")
        sequence = found.arguments.get("max_seq_len")
        draft.sequence_length = int(sequence) if sequence else None
        facts.describe(draft)
        draft.peak_memory_bytes = found.peak_bytes or None
        _set_numbers(draft, found, facts)
        return draft.finish()


def _set_numbers(draft: Draft, found: _Found, facts: LogFacts) -> None:
    # Old timers count micro-batches; the lines of the optimizer count steps in every version.
    pace = found.optimizer_pace if found.optimizer_pace.step_time_s else found.pace
    draft.step_time_s = pace.step_time_s or median([t for t in found.times_s[1:] if t > 0])
    draft.steps = pace.steps or len(found.times_s[1:]) or None
    logged = statistics.median(found.rates)
    listed = above_zero(facts.deepspeed.get("train_batch_size"))
    if draft.step_time_s is not None:
        draft.global_batch = listed or _batch_of_rate(logged * draft.step_time_s, found, draft)
    set_throughput(draft, draft.global_batch, "samples/s", logged, "the log")
    if pace.restarts:
        draft.warn(f"Steps done again after {counted(pace.restarts, 'restart')} count once.")


def _batch_of_rate(samples: float, found: _Found, draft: Draft) -> float:
    """Return the global batch from the logged rate: a multiple of what a device takes."""
    accumulation = found.arguments.get("gradient_accumulation_steps", found.accumulation)
    unit = (draft.micro_batch or 1.0) * accumulation
    draft.warn("The global batch is not logged; it follows from throughput and step time.")
    if accumulation > 1:
        draft.warn(
            "Gradients are accumulated; versions of DeepSpeed before 0.7.5 leave that out of the "
            "logged throughput, and the batch would be larger by that factor."
        )
    return max(1.0, round(samples / unit)) * unit
