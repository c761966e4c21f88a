"""What traces say, as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from advisor.cli.tables import console, right
from advisor.cli.text import plain
from advisor.core import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces import Result, Trace


def show_traces(results: Sequence[Result]) -> None:
    """Print one row per run, and below what is doubtful or missing."""
    table = Table("file", "format", "accelerators", "step", "busy", "communication", "exposed",
                  "memory", "batch", "throughput", box=None)  # fmt: skip
    right(table, *range(3, 10))
    out = console()
    for result in results:
        if result.trace is not None:
            table.add_row(*map(plain, (result.name, *_cells(result.trace))))
    out.print(table)
    for result in results:
        for warning in () if result.trace is None else result.trace.warnings:
            said = f"{result.name}: {warning}" if len(results) > 1 else warning
            out.print(f"[dim]{plain(said)}[/dim]")


def _cells(trace: Trace) -> list[str]:
    batch = trace.global_batch
    rate = trace.throughput
    return [
        trace.format,
        _devices(trace),
        _or_dash(units.duration(trace.step_time_s)),
        *(
            _or_dash(units.percent(share))
            for share in (trace.gpu_busy_share, trace.comm_share, trace.comm_exposed_share)
        ),
        _or_dash(units.data_size(trace.peak_memory_bytes)),
        "–" if batch is None else f"{batch:,.0f}",
        "–" if rate is None else f"{units.number(rate)} {trace.throughput_unit}",
    ]


def _devices(trace: Trace) -> str:
    if trace.gpus is None:
        return trace.gpu_name or "–"
    return f"{trace.gpus:,} × {trace.gpu_name or 'accelerator'}"


def _or_dash(text: str) -> str:
    return "–" if text == units.NOT_AVAILABLE else text
