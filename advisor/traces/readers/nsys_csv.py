"""CSV reports of ``nsys stats``: sums by kernel, and the trace of all kernels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.device_time import COPY, KERNEL, DeviceWork, is_comm, shares
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.reader import READERS
from advisor.traces.scrub import clean
from advisor.traces.tables import rows
from advisor.traces.trace import KernelRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SUMS: Final = re.compile(
    rb'^"?Time ?\(%\)"?,"?(?:Total Time|Time) \((?:ns|us|ms|s|sec)\)"?,', re.MULTILINE
)
_TRACE: Final = re.compile(
    rb'^"?Start \((?:ns|us|ms|s|sec)\)"?,"?Duration \((?:ns|us|ms|s|sec)\)"?,', re.MULTILINE
)
_UNIT: Final = re.compile(r"\((ns|us|ms|s|sec)\)")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
_COPY: Final = re.compile(r"^\[?CUDA mem(?:cpy|set)", re.IGNORECASE)
_DEVICE: Final = re.compile(r"^(.*?)\s*\((\d+)\)$")
_TOP: Final = 12


@READERS.register("nsys_csv")
class NsysCsvReader:
    """The trace gives shares; the sums have no time of the clock, so they give none."""

    label: ClassVar[str] = "Nsight Systems CSV report"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 19

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the header, below what the program itself prints."""
        return _SUMS.search(head) is not None or _TRACE.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the first table of the report."""
        draft = Draft(format="nsys_csv")
        lines = source.lines()
        header: list[str] = []
        for cells in rows(source, lines):
            if any(_UNIT.search(cell) for cell in cells[:2]) and len(cells) > 3:
                header = cells
                break
        at = {_UNIT.sub("", name).strip(): i for i, name in enumerate(header)}
        units = {name: _scale(header[i]) for name, i in at.items()}
        table = (cells for cells in rows(source, lines) if len(cells) == len(header))
        if "Start" in at and "Duration" in at:
            _read_trace(draft, table, at, units, source)
        elif "Total Time" in at and "Name" in at:
            _read_sums(draft, table, at, units)
        if not draft.kernels:
            raise TraceError(
                "no row of a kernel.",
                where=source.name,
                todo="Export with: nsys stats --report cuda_gpu_trace --format csv.",
            )
        return draft.finish()


def _scale(name: str) -> float:
    unit = _UNIT.search(name)
    return _SECONDS[unit[1]] if unit else 1.0


def _read_sums(
    draft: Draft, table: Iterable[list[str]], at: dict[str, int], units: dict[str, float]
) -> None:
    kernels: list[KernelRow] = []
    calls_at = at.get("Instances", at.get("Calls", at.get("Num Calls")))
    for cells in table:
        total = number(cells[at["Total Time"]])
        calls = number(cells[calls_at]) if calls_at is not None else None
        if total is None or total < 0:
            continue
        name = cells[at["Name"]]
        kernels.append(
            KernelRow(
                name=clean(name) or "(no name)",
                calls=max(int(calls or 1), 1),
                total_s=total * units["Total Time"],
                is_comm=is_comm(name),
            )
        )
    draft.kernels = tuple(sorted(kernels, key=lambda row: -row.total_s)[:_TOP])
    whole = sum(row.total_s for row in kernels)
    comm = sum(row.total_s for row in kernels if row.is_comm)
    if whole > 0:
        draft.warn(
            f"Sums by kernel only: {comm / whole:.1%} of all kernel time is communication. How "
            "long the run took is not in the report, so shares of time and step time are not "
            "available; export cuda_gpu_trace instead."
        )


def _read_trace(
    draft: Draft,
    table: Iterable[list[str]],
    at: dict[str, int],
    units: dict[str, float],
    source: Source,
) -> None:
    work = DeviceWork(source.limits.names)
    for cells in table:
        start, duration = number(cells[at["Start"]]), number(cells[at["Duration"]])
        if start is None or duration is None or duration < 0:
            continue
        name = cells[at["Name"]] if "Name" in at else ""
        begin = start * units["Start"]
        work.extend(
            start=[begin],
            end=[begin + duration * units["Duration"]],
            device=[cells[at["Device"]] if "Device" in at else ""],
            stream=[cells[at["Strm"]] if "Strm" in at else ""],
            names=[name],
            kind=[COPY if _COPY.match(name) else KERNEL],
        )
    used = shares(work, None) if len(work) else None
    if used is None:
        return
    draft.gpu_busy_share = used.busy
    draft.comm_share, draft.comm_exposed_share = used.comm, used.comm_exposed
    draft.parts, draft.kernels, draft.gpus = used.parts, work.top(), len(work.devices)
    named = _DEVICE.match(str(next(iter(work.devices))))
    draft.gpu_name = named[1] if named else None
    draft.warn("The report marks no steps, so the step time is not available.")
