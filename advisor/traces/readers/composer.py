"""Console logs of Composer and llm-foundry."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import GB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import median
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb"\bthroughput/(?:device/)?(?:batches|samples|tokens)_per_sec: [\d.,]+")
_VALUE: Final = re.compile(
    r"\b((?:throughput|memory|trainer|time)/[\w/]{1,80}): ([\d.,]+(?:e[+-]?\d+)?)(?=\s|$)"
)
_PEAKS: Final = ("memory/peak_allocated_mem", "memory/peak_active_mem", "memory/peak_reserved_mem")


@READERS.register("composer_log")
class ComposerReader:
    """Step time and batch from the moving averages of the throughput monitor."""

    label: ClassVar[str] = "Composer or llm-foundry log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 11

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of the throughput monitor."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        values: dict[str, list[float]] = defaultdict(list)
        for line in source.lines():
            for name, text in _VALUE.findall(line) if "/" in line else ():
                if (value := above_zero(text.replace(",", ""))) is not None:
                    values[name].append(value)
        draft = Draft(format="composer_log", framework="Composer")
        if not any(name.startswith("throughput/") for name in values):
            raise TraceError(
                "no throughput is complete.", where=source.name, todo="Upload the whole log."
            )
        _set_numbers(draft, values)
        return draft.finish()


def _set_numbers(draft: Draft, values: dict[str, list[float]]) -> None:
    def rate(what: str, of: str = "") -> float | None:
        return median(values.get(f"throughput/{of}{what}_per_sec", []))

    batches, samples, tokens = rate("batches"), rate("samples"), rate("tokens")
    draft.global_batch = _batch(values, samples, batches)
    if samples and draft.global_batch:
        draft.step_time_s = draft.global_batch / samples  # batches/s has four decimals only
    elif batches:
        draft.step_time_s = 1 / batches
    else:
        draft.warn("Batches per second are not logged, so the step time is not available.")
    draft.steps = len(values.get("throughput/batches_per_sec", [])) or None
    if tokens:
        draft.throughput, draft.throughput_unit = tokens, "tokens/s"
        draft.sequence_length = round(tokens / samples) if samples else None
    elif samples:
        draft.throughput, draft.throughput_unit = samples, "samples/s"
    for what, whole in (("tokens", tokens), ("samples", samples)):
        share = rate(what, "device/")
        if whole and share and draft.gpus is None:
            draft.gpus = round(whole / share)
    draft.micro_batch = median(values.get("trainer/device_train_microbatch_size", []))
    peaks = [max(values[name]) for name in _PEAKS if name in values]
    draft.peak_memory_bytes = peaks[0] * GB if peaks else None


def _batch(
    values: dict[str, list[float]], samples: float | None, batches: float | None
) -> float | None:
    """Return samples per batch from the counts of both, which are exact, or from the rates."""
    counts = [values.get(f"time/{what}", []) for what in ("sample", "batch")]
    if all(counts):
        return float(round(counts[0][-1] / counts[1][-1])) or None
    return float(round(samples / batches)) or None if samples and batches else None
