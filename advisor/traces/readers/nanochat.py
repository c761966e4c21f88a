"""Logs of nanochat's pretraining."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import median
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb"step \d+/\d+ \([\d.]+%\)[^\n]{0,120} dt: [\d.]+ms \| tok/sec: [\d,]+")
_STEP: Final = re.compile(r"step (\d{1,15})/\d+ .{0,300}?\bdt: ([\d.]+)ms \| tok/sec: ([\d,]+)")
_RANK_TOKENS: Final = re.compile(r"Tokens / micro-batch / rank: (\d{1,15}) x (\d{1,15}) = ([\d,]+)")
_WORLD_TOKENS: Final = re.compile(r"Tokens / micro-batch: ([\d,]+)")
_BATCH: Final = re.compile(r"Total batch size ([\d,]+) => gradient accumulation steps: (\d{1,15})")
# The first steps compile and warm up.
_START_UP: Final = 10


@READERS.register("nanochat_log")
class NanochatReader:
    """Step time from the lines of steps; tokens per second from batch and step time."""

    label: ClassVar[str] = "nanochat log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 11

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of a step."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        draft = Draft(format="nanochat_log", framework="nanochat")
        rows: list[tuple[float, float]] = []
        rank_tokens: float | None = None
        for line in source.lines():
            if found := _STEP.search(line):
                rows.append((_whole(found[2]), _whole(found[3])))
            elif found := _RANK_TOKENS.search(line):
                draft.micro_batch, rank_tokens = _whole(found[1]), _whole(found[3])
                draft.sequence_length = int(_whole(found[2]))
            elif found := _WORLD_TOKENS.search(line):
                draft.gpus = int(_whole(found[1]) / rank_tokens) if rank_tokens else None
            elif found := _BATCH.search(line):
                draft.global_batch = _whole(found[1])
        counted = rows[_START_UP:] or rows[1:]
        if not counted:
            raise TraceError(
                "only start-up is logged.", where=source.name, todo="Upload a log of more steps."
            )
        _set_numbers(draft, counted)
        draft.warn(f"Not counted: the first {len(rows) - len(counted)} steps, which are start-up.")
        return draft.finish()


def _set_numbers(draft: Draft, counted: list[tuple[float, float]]) -> None:
    step_ms, logged = median([row[0] for row in counted]), median([row[1] for row in counted])
    draft.step_time_s, draft.steps = (step_ms or 0.0) * 1e-3 or None, len(counted)
    tokens, draft.global_batch = draft.global_batch or None, None
    set_throughput(draft, tokens, "tokens/s", logged, "the log")
    if tokens and draft.sequence_length:
        draft.global_batch = tokens / draft.sequence_length


def _whole(text: str) -> float:
    return above_zero(text.replace(",", "")) or 0.0
