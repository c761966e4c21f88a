"""Files of one job become one trace: ranks side by side, or files that complete each other."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.stragglers import straggler_of
from advisor.traces.trace import KernelRow, Parts, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANK_IN_NAME: Final = re.compile(r"(?:rank|worker|gpu|_r)[-_.]?(\d{1,15})", re.IGNORECASE)
_TOP: Final = 12
_NOT_SHARED: Final = frozenset(
    {"format", "ranks", "warnings", "parts", "timeline", "host", "kernels"}
    | {
        "operators",
        "collectives",
    }
)


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a job."""

    name: str
    trace: Trace


def says_its_rank(trace: Trace) -> bool:
    """Tell whether the file of one process says which rank it is of."""
    return not any("which rank" in text for text in trace.warnings)


def worker_number(name: str) -> int | None:
    """Return the number of a rank or worker in the name of a file, the innermost of several.

    >>> worker_number("8gpu4/host_rank-3.json"), worker_number("trace.json")
    (3, None)
    """
    found = _RANK_IN_NAME.findall(name)
    return int(found[-1]) if found else None


def join(parts: Sequence[Part], where: str) -> Trace:
    """Return the job that the files describe together.

    Raises
    ------
    TraceError
        If there are no files.
    """
    if not parts:
        raise TraceError(
            "none of the files is a trace that can be read.",
            where=where,
            todo="Give the files that the profiler wrote, one per rank.",
        )
    ranks = [part for part in parts if part.trace.ranks]
    if len(ranks) > 1:
        parts = [Part(where, _of_ranks(ranks)), *(p for p in parts if not p.trace.ranks)]
    return _completed([part.trace for part in parts])


def _of_ranks(parts: Sequence[Part]) -> Trace:
    numbers, guessed = _rank_numbers(parts)
    by_rank: dict[int, Trace] = {}
    for number, part in zip(numbers, parts, strict=True):
        known = by_rank.get(number)
        if known is None or (known.steps or 0) < (part.trace.steps or 0):
            by_rank[number] = part.trace
    traces = [by_rank[number] for number in sorted(by_rank)]
    draft = Draft(format=traces[0].format)
    for name in ("framework", "gpu_name", "gpus_on_host", "gpu_memory_bytes", "precision", "model"):
        setattr(draft, name, _first(traces, name))
    draft.ranks = tuple(
        trace.ranks[0].model_copy(update={"rank": number})
        for number, trace in sorted(by_rank.items())
    )
    _set_numbers(draft, traces)
    if guessed:
        draft.warn("Not every file says its rank; the others were numbered by file name.")
    if len(by_rank) < len(parts):
        draft.warn(
            f"The longest file of each rank counts; {len(parts)} files have {len(by_rank)} ranks."
        )
    _warn_of_missing(draft)
    _warn_of_stragglers(draft)
    _keep_warnings(draft, traces)
    return draft.finish()


def _rank_numbers(parts: Sequence[Part]) -> tuple[list[int], bool]:
    """Return the rank of each file, and whether file names had to tell it."""
    said = [part.trace.ranks[0].rank for part in parts]
    if all(says_its_rank(part.trace) for part in parts):
        return said, False
    named = [number for part in parts if (number := worker_number(part.name)) is not None]
    if len(named) == len(parts):
        return named, True
    order = sorted(range(len(parts)), key=lambda i: parts[i].name)
    return [order.index(i) for i in range(len(parts))], True


def _set_numbers(draft: Draft, traces: Sequence[Trace]) -> None:
    times = [t.step_time_s for t in traces if t.step_time_s is not None]
    draft.step_time_s = max(times, default=None)  # all wait for the slowest
    draft.steps = min((t.steps for t in traces if t.steps is not None), default=None)
    draft.gpu_busy_share = _mean(t.gpu_busy_share for t in traces)
    draft.comm_share = _mean(t.comm_share for t in traces)
    draft.comm_exposed_share = _mean(t.comm_exposed_share for t in traces)
    peaks = [t.peak_memory_bytes for t in traces if t.peak_memory_bytes is not None]
    draft.peak_memory_bytes = max(peaks, default=None)
    gpus = [t.gpus for t in traces if t.gpus is not None]
    if gpus:
        # Each file gives the size of the job, or only its own devices.
        draft.gpus = max(gpus) if max(gpus) >= len(traces) else sum(gpus)
    draft.parts = _mean_parts([t.parts for t in traces if t.parts is not None])
    draft.kernels = _sum_kernels(traces)
    slowest = max(traces, key=lambda t: t.step_time_s or 0.0)
    draft.host, draft.timeline = slowest.host, slowest.timeline
    draft.operators, draft.collectives = slowest.operators, slowest.collectives


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _mean_parts(parts: Sequence[Parts]) -> Parts | None:
    if not parts:
        return None
    means = {name: _mean(getattr(part, name) for part in parts) for name in Parts.model_fields}
    return Parts(**means)


def _sum_kernels(traces: Sequence[Trace]) -> tuple[KernelRow, ...]:
    rows: dict[str, KernelRow] = {}
    for row in (row for trace in traces for row in trace.kernels):
        known = rows.get(row.name)
        rows[row.name] = (
            row
            if known is None
            else known.model_copy(
                update={"calls": known.calls + row.calls, "total_s": known.total_s + row.total_s}
            )
        )
    return tuple(sorted(rows.values(), key=lambda row: -row.total_s)[:_TOP])


def _warn_of_missing(draft: Draft) -> None:
    have = {row.rank for row in draft.ranks}
    missing = sorted(set(range(min(draft.gpus or 0, 10**5))) - have)
    if missing:
        draft.warn(
            f"Ranks {_ranges(missing)} of {draft.gpus} are missing; shares are means over the "
            f"{len(have)} ranks that are here."
        )


def _warn_of_stragglers(draft: Draft) -> None:
    found = straggler_of(draft.ranks)
    if found is not None:
        draft.warn(
            f"Rank {found.rank} is the slowest: {found.step_time_s * 1e3:.4g} ms a step against "
            f"{found.usual_s * 1e3:.4g} ms in the middle; the job waits for it."
        )


def _ranges(numbers: Sequence[int]) -> str:
    """Write whole numbers as ranges.

    >>> _ranges([1, 2, 3, 7])
    '1–3, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in runs[:8])


def _keep_warnings(draft: Draft, traces: Sequence[Trace]) -> None:
    """Take over what the files warn of, once each; the rank is settled here."""
    for trace in traces:
        for text in trace.warnings:
            if "which rank" not in text:
                draft.warn(text)


def _completed(traces: Sequence[Trace]) -> Trace:
    """Fill what the best file leaves open from the others."""
    ordered = sorted(
        traces,
        key=lambda t: (
            t.step_time_s is None,
            t.parts is None and t.host is None,
            not t.is_measured,
        ),
    )
    first = ordered[0]
    if len(ordered) == 1:
        return first
    fields = {name: _first(ordered, name) for name in Trace.model_fields if name not in _NOT_SHARED}
    fields["layout"] = next((t.layout for t in ordered if t.layout), "")
    if first.throughput is not None:
        fields["throughput_unit"] = first.throughput_unit
    warnings = tuple(dict.fromkeys(text for trace in ordered for text in trace.warnings))
    return first.model_copy(update=fields | {"warnings": warnings})


def _first(traces: Sequence[Trace], name: str) -> Any:
    return next((v for t in traces if (v := getattr(t, name)) is not None), None)
