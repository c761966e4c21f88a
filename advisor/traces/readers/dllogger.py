"""Lines of NVIDIA's DLLogger."""

from __future__ import annotations

import json
import re
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

# A file of its own may be without the prefix of the lines.
_SNIFF: Final = re.compile(
    rb'(?:^|[:> ])DLLL \{|^\{"timestamp": "[\d.]+", (?=[^\n]{0,200}"type": "LOG")', re.MULTILINE
)
_RATE: Final = re.compile(
    r"throughput|_ips\b|total_ips"
    r"|(?:items|imgs?|images|samples|sequences|tokens)[_/]?(?:per_)?s(?:ec(?:ond)?)?\b",
    re.IGNORECASE,
)
_TESTING: Final = re.compile(r"\b(?:val|eval|dev|test|inference)", re.IGNORECASE)
_STEP_TIME: Final = re.compile(
    r"(?:step|iter(?:ation)?)_?time|time_per_(?:step|iter)", re.IGNORECASE
)
_UNITS: Final = (
    (re.compile(r"im(?:age|g)s?", re.IGNORECASE), "images/s"),
    (re.compile(r"tok(?:en)?s?", re.IGNORECASE), "tokens/s"),
    (re.compile(r"sequences?", re.IGNORECASE), "sequences/s"),
)


@READERS.register("dllogger_jsonl")
class DlloggerReader:
    """Throughput from the final summary if there is one, else the median of the training."""

    label: ClassVar[str] = "DLLogger log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 22

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the prefix of the lines."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the log of one job."""
        series: dict[str, list[float]] = defaultdict(list)
        final: dict[str, float] = {}
        parameters: dict[str, Any] = {}
        rows = 0
        for line in source.lines():
            row = _row(line)
            if row is None:
                continue
            rows += 1
            step, data = row
            if step == "PARAMETER":
                parameters.update(data)
                continue
            for name, value in data.items():
                if (found := above_zero(value)) is not None:
                    series[name].append(found)
                    if step in ([], ""):
                        final[name] = found
        if not rows:
            raise TraceError(
                "no line of the log is complete.", where=source.name, todo="Upload the whole log."
            )
        return _describe(series, final, parameters)


def _row(line: str) -> tuple[Any, dict[str, Any]] | None:
    at = line.find("DLLL {")
    if at < 0 and not line.startswith('{"timestamp": '):
        return None
    try:
        row = json.loads(line[at + 5 if at >= 0 else 0 :])
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    data = row.get("data")
    return row.get("step"), data if isinstance(data, dict) else {}


def _describe(
    series: dict[str, list[float]], final: dict[str, float], parameters: dict[str, Any]
) -> Trace:
    draft = Draft(format="dllogger_jsonl")
    rates = [name for name in series if _RATE.search(name) and not _TESTING.search(name)]
    times = [name for name in series if _STEP_TIME.search(name) and not _TESTING.search(name)]
    summed = [name for name in rates if name in final]
    if summed:
        draft.throughput = final[summed[0]]
    elif rates:
        longest = max(rates, key=lambda name: len(series[name]))
        values = series[longest]
        draft.throughput = statistics.median(values[1:] or values)
    else:
        draft.warn("No training throughput is logged, so it is not available.")
    if rates:
        draft.throughput_unit = _unit(rates[0], series)
    draft.global_batch = above_zero(parameters.get("global_batch_size"))
    if times:
        values = series[times[0]]
        draft.step_time_s, draft.steps = statistics.median(values[1:] or values), len(values)
    elif draft.global_batch and draft.throughput:
        draft.step_time_s = draft.global_batch / draft.throughput
    else:
        draft.warn("Neither step time nor global batch is logged, so step time is not available.")
    return draft.finish()


def _unit(name: str, series: dict[str, list[float]]) -> str:
    for pattern, unit in _UNITS:
        if pattern.search(name):
            return unit
    # A word error rate is measured on speech only.
    return "utterances/s" if any("wer" in other.split("_") for other in series) else "samples/s"
