"""Logs of nanotron."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import MIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.logs import median
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(
    rb"iteration: \d+ / \d+ \|[^\n]{0,200}(?:elapsed_)?time_per_iteration_ms: [\d.]+[KMB]?"
)
_ITERATION: Final = re.compile(r"iteration: (\d{1,15}) / \d+ \|")
_FIELD: Final = re.compile(
    r"(?<!\w)(\w{1,64}): ([\d.]{1,32}+(?:e[+-]?\d{1,3})?)([KMBT]?)(?= \||\s*$)"
)
_PEAK: Final = re.compile(r"Peak allocated:? ([\d.]+)MiB")
_RENAMED: Final = {"time_per_iteration_ms": "elapsed_time_per_iteration_ms"}
_SUFFIX: Final = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
# Numbers have three digits, so a ratio of two is sure to be this far from a whole number at most.
_RATIO_ERROR: Final = 0.01


@READERS.register("nanotron_log")
class NanotronReader:
    """Step time, throughput and batch from the lines of iterations."""

    label: ClassVar[str] = "nanotron log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 11

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of an iteration."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        rows: dict[int, dict[str, float]] = {}
        peak_mib = 0.0
        for line in source.lines():
            if found := _ITERATION.search(line):
                rows.setdefault(int(found[1]), _fields(line))
            elif peak := _PEAK.search(line):
                peak_mib = max(peak_mib, above_zero(peak[1]) or 0.0)
        timed = [row for _, row in sorted(rows.items()) if row.get("elapsed_time_per_iteration_ms")]
        if not timed:
            raise TraceError(
                "no line of an iteration is complete.",
                where=source.name,
                todo="Upload the whole log.",
            )
        draft = Draft(format="nanotron_log", framework="nanotron")
        draft.peak_memory_bytes = peak_mib * MIB or None
        counted = timed[1:]
        if not counted:
            draft.warn("Only the first iteration is logged; it is start-up, not a step time.")
            return draft.finish()
        draft.warn("The first iteration, which includes start-up, does not count.")
        draft.steps = len(counted)
        draft.step_time_s = (_median(counted, "elapsed_time_per_iteration_ms") or 0.0) * 1e-3
        draft.global_batch = _median(counted, "global_batch_size")
        draft.throughput, draft.throughput_unit = _median(counted, "tokens_per_sec"), "tokens/s"
        _set_gpus(draft, _median(counted, "tokens_per_sec_per_gpu"))
        return draft.finish()


def _set_gpus(draft: Draft, per_gpu: float | None) -> None:
    if not per_gpu or not draft.throughput:
        return
    ratio = draft.throughput / per_gpu
    if ratio * _RATIO_ERROR < 0.5:
        draft.gpus = round(ratio)
    else:
        draft.warn(f"The log rounds, so the number of GPUs is not exact: about {ratio:.0f}.")


def _fields(line: str) -> dict[str, float]:
    return {
        _RENAMED.get(name, name): value * _SUFFIX[suffix]
        for name, text, suffix in _FIELD.findall(line)
        if (value := above_zero(text)) is not None
    }


def _median(rows: list[dict[str, float]], name: str) -> float | None:
    return median([row[name] for row in rows if name in row])
