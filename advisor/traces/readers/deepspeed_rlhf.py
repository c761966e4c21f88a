"""Step lines of DeepSpeed-Chat's third stage: generation and training in turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import GIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import LogFacts, median
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb"\|E2E latency=[\d.]+s")
_LINE: Final = re.compile(
    r"\|E2E latency=([\d.]+)s.{0,200}?\|Generate time=([\d.]+)s.{0,200}?\|Training time=([\d.]+)s"
    r"(?:.{0,200}?\|CurSamplesPerSec=([\d.]+))?"
)
_TOTAL: Final = re.compile(r"Total memory: ([\d.]+) \(GigaBytes\)")


@READERS.register("deepspeed_chat_rlhf_log")
class DeepSpeedRlhfReader:
    """A step is generation and training together."""

    label: ClassVar[str] = "DeepSpeed-Chat RLHF log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 8

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of a step."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        facts = LogFacts()
        rows: list[tuple[float, float, float, float | None]] = []
        draft = Draft(format="deepspeed_chat_rlhf_log", framework="DeepSpeed-Chat")
        for line in source.lines():
            facts.feed(line)
            if found := _LINE.search(line):
                whole, generation, training = (above_zero(found[i]) or 0.0 for i in (1, 2, 3))
                rows.append((whole, generation, training, above_zero(found[4])))
            elif total := _TOTAL.search(line):
                draft.gpu_memory_bytes = (above_zero(total[1]) or 0.0) * GIB or None
        if not rows:
            raise TraceError(
                "no line of a step is complete.",
                where=source.name,
                todo="Upload the whole log of the third stage.",
            )
        counted = rows[1:] or rows
        draft.step_time_s = median([row[0] for row in counted if row[0] > 0])
        draft.steps = len(counted)
        batches = [row[0] * row[3] for row in counted if row[3] is not None]
        if batches and draft.step_time_s:
            draft.global_batch = max(1.0, round(median(batches) or 0.0))
            set_throughput(draft, draft.global_batch, "samples/s")
        facts.describe(draft)
        draft.warn(
            f"Of a step, generation takes {median([row[1] for row in counted]):.3g} s and training "
            f"{median([row[2] for row in counted]):.3g} s (medians; the first step does not count)."
        )
        return draft.finish()
