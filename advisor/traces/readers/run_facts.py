"""The page of facts that the probe of `advisor.traces.probe` writes beside its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero, document, number
from advisor.traces.rates import set_throughput
from advisor.traces.reader import READERS
from advisor.traces.scrub import base_name

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


@READERS.register("run_facts")
class RunFactsReader:
    """What the user said of the job, and the time of steps without the profiler."""

    label: ClassVar[str] = "facts of the advisor's probe"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 1

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the first key."""
        return head.lstrip().startswith(b"{") and b'"advisor_run_facts"' in head[:200]

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the facts of one process."""
        facts = document(source)
        draft = Draft(format="run_facts", framework="PyTorch")
        draft.step_time_s = above_zero(facts.get("step_time_s"))
        draft.steps = _whole(facts, "steps") if draft.step_time_s else None
        for name in ("gpus_on_host", "sequence_length"):
            setattr(draft, name, _whole(facts, name) or None)
        draft.gpus = _whole(facts, "gpus")
        for name in ("gpu_memory_bytes", "peak_memory_bytes", "micro_batch", "global_batch"):
            setattr(draft, name, above_zero(facts.get(name)))
        draft.params = above_zero(facts.get("parameters"))
        draft.model = base_name(str(facts.get("model") or "")) or None
        for name in ("gpu_name", "precision"):
            setattr(draft, name, str(facts.get(name) or "") or None)
        if draft.step_time_s is None:
            draft.warn("The probe ended before it had a step time; let it run for more steps.")
        set_throughput(draft, draft.global_batch, "samples/s")
        return draft.finish()


def _whole(facts: dict[str, Any], name: str) -> int | None:
    value = number(facts.get(name))
    return int(value) if value is not None and value >= 0 else None
