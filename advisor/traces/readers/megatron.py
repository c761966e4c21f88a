"""Logs of Megatron-LM and its relatives, from 2020 to now."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import MIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import LogFacts, median
from advisor.traces.reader import READERS
from advisor.traces.scrub import counted

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(
    rb"iteration +\d+/ *\d+ \|[^\n]{0,400}elapsed time per iteration \((?:ms|s)\):"
)
_ITERATION: Final = re.compile(r"iteration\s+(\d{1,15})\s*/\s*\d+\s*\|")
# Every field ends with a bar: one without was cut off, and so was its number.
_ELAPSED: Final = re.compile(
    r"elapsed time per iteration \((ms|s)\):\s*([\d.]+(?:E[+-]?\d+)?)\s*\|", re.IGNORECASE
)
_BATCH: Final = re.compile(r"global batch size:\s*(\d{1,15})\s*\|")
_SKIPPED: Final = re.compile(r"number of skipped iterations:\s*(\d{1,15})")
_PEAK_MB: Final = re.compile(r"max allocated: ([\d.]+)")
_PEAK_BYTES: Final = re.compile(r"mem-max-allocated-bytes: ([\d.]+(?:E[+-]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: the mean step time since the line before."""

    iteration: int
    step_time_s: float
    batch: int | None


@dataclass
class _Lines:
    lines: list[Line] = field(default_factory=list)
    start_ups: int = 0
    skipped: int = 0
    peak_bytes: float = 0.0

    def feed(self, line: str) -> None:
        if "max allocated:" in line:  # ranks may share a line
            peaks = [above_zero(text) or 0.0 for text in _PEAK_MB.findall(line)]
            self.peak_bytes = max([self.peak_bytes, *(mb * MIB for mb in peaks)])
        found = _ITERATION.search(line) if "iteration" in line else None
        elapsed = _ELAPSED.search(line) if found else None
        if found is None or elapsed is None:
            return
        if peak := _PEAK_BYTES.search(line):
            self.peak_bytes = max(self.peak_bytes, above_zero(peak[1]) or 0.0)
        if skipped := _SKIPPED.search(line):
            self.skipped += int(skipped[1])
        time_s = above_zero(elapsed[2])
        if time_s is not None:
            time_s *= 1e-3 if elapsed[1] == "ms" else 1.0
            batch = _BATCH.search(line)
            self._add(Line(int(found[1]), time_s, int(batch[1]) if batch else None))

    def _add(self, line: Line) -> None:
        """Add a line unless it begins a session, which includes start-up."""
        if self._last is not None and line.iteration == self._last:
            return  # printed by several ranks
        restarted = self._last is None or line.iteration < self._last
        self._last = line.iteration
        if restarted:
            self.start_ups += 1
            self.first = line
            self.lines = [known for known in self.lines if known.iteration < line.iteration]
        else:
            self.lines.append(line)

    _last: int | None = None
    first: Line | None = None


@READERS.register("megatron_log")
class MegatronReader:
    """Step time from the lines of iterations, batch and layout from the list of arguments."""

    label: ClassVar[str] = "Megatron-LM log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 10

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of an iteration."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        facts, found = LogFacts(), _Lines()
        for line in source.lines():
            facts.feed(line)
            found.feed(line)
        if found.first is None:
            raise TraceError(
                "no line of an iteration has a time.",
                where=source.name,
                todo="Log elapsed times: --log-interval 10 without --no-log-timers.",
            )
        draft = Draft(format="megatron_log", framework="Megatron-LM")
        facts.describe(draft)
        _set_steps(draft, found)
        _set_batch(draft, found, facts)
        draft.peak_memory_bytes = found.peak_bytes or None
        return draft.finish()


def _set_steps(draft: Draft, found: _Lines) -> None:
    first = found.first
    if not found.lines:
        if first is not None and first.iteration > 1:
            draft.step_time_s, draft.steps = first.step_time_s, first.iteration
            draft.warn("There is one line only, and its mean includes start-up.")
        else:
            draft.warn("Only the first iteration is logged; it is start-up, not a step time.")
        return
    last_batch = next((line.batch for line in reversed(found.lines) if line.batch), None)
    steady = [line for line in found.lines if line.batch in {last_batch, None}]
    draft.step_time_s = median([line.step_time_s for line in steady])
    # A line stands for all iterations since the one before; the first counted one is a session's.
    draft.steps = max(found.lines[-1].iteration - (first.iteration if first else 0), len(steady))
    starts = counted(found.start_ups, "line")
    draft.warn(f"Not counted: {starts} after a start, which include start-up.")
    if len(steady) < len(found.lines):
        draft.warn("The batch grows during the run; steps with the last batch count.")
    if found.skipped:
        draft.warn(
            f"Skipped for the loss scale, at full cost: {counted(found.skipped, 'iteration')}."
        )


def _set_batch(draft: Draft, found: _Lines, facts: LogFacts) -> None:
    lines = [*found.lines, *([found.first] if found.first else [])]
    logged = next((line.batch for line in lines if line.batch), None)
    logged = next((line.batch for line in reversed(found.lines) if line.batch), logged)
    listed = above_zero(facts.deepspeed.get("train_batch_size"))
    draft.global_batch = logged or facts.whole("global_batch_size") or listed or _old_batch(facts)
    if draft.global_batch is None or draft.step_time_s is None:
        draft.warn("The global batch is not in the log, so throughput is not available.")
        return
    samples_per_s = draft.global_batch / draft.step_time_s
    if draft.sequence_length:
        draft.throughput, draft.throughput_unit = samples_per_s * draft.sequence_length, "tokens/s"
    else:
        draft.throughput, draft.throughput_unit = samples_per_s, "samples/s"


def _old_batch(facts: LogFacts) -> float | None:
    """Return the global batch of versions that list the batch of one replica only."""
    replica = facts.whole("batch_size")
    world = facts.whole("world_size") or facts.world_size
    parallel = facts.whole("model_parallel_size")
    return replica * (world // parallel) if replica and world and parallel else None
