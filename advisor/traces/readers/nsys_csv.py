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
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SCALES: Final = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
_SECONDS: Final = {p + name: s for p, s in _SCALES.items() for name in ("s", "sec")}
_UNITS: Final = "|".join(_SECONDS)
_SNIFF: Final = re.compile(
    rf'^"?(?:Time ?\(%\)"?[,\t]"?(?:Total Time|Time)|Start ?\((?:{_UNITS})\)"?[,\t]"?Duration)'
    rf' ?\((?:{_UNITS})\)"?[,\t]'.encode(),
    re.MULTILINE,
)
_UNIT: Final = re.compile(rf"\((?:{_UNITS})\)")
_COPY: Final = re.compile(r"^\[?CUDA mem(?:cpy|set)|^\[?(?:memcpy|memset)\b", re.IGNORECASE)
_FEWEST_COLUMNS: Final = 4
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
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the reports in a file: ``nsys stats`` writes several one after the other."""
        trace, sums = _KernelTrace(source.limits.names), _KernelSums()
        header: _Header | None = None
        begin = _SNIFF.search(source.head)
        mark = "\t" if begin is not None and b"\t" in begin[0] else ","
        for cells in rows(source, source.lines(), mark):
            if _is_header(cells):
                header = _Header(cells)
            elif header is None or len(cells) != header.width:
                continue
            elif header.is_trace:
                trace.add(cells, header)
            elif header.is_sums:
                sums.add(cells, header)
        draft = Draft(format="nsys_csv")
        if not trace.describe(draft) and not sums.describe(draft):
            raise TraceError(
                "no row of a kernel; calls of the host and NVTX ranges are not work of a GPU.",
                where=source.name,
                todo="Export with: nsys stats --report cuda_gpu_trace --format csv.",
            )
        return draft.finish()


def _is_header(cells: list[str]) -> bool:
    return len(cells) >= _FEWEST_COLUMNS and any(_UNIT.search(cell) for cell in cells[:2])


class _Header:
    """Where which column is, and its unit."""

    def __init__(self, cells: list[str]) -> None:
        self.width = len(cells)
        names = [_UNIT.sub("", cell).strip() for cell in cells]
        self._at = {name: at for at, name in enumerate(names)}
        units = [_UNIT.search(cell) for cell in cells]
        self._scale = [_SECONDS[unit[0][1:-1]] if unit else 1.0 for unit in units]
        self.is_trace = {"Start", "Duration", "Strm"} <= self._at.keys()
        # The sums of calls of the host have “Num Calls”, those of NVTX ranges have no “Name”.
        self.is_sums = "Num Calls" not in self._at and {"Total Time", "Name"} <= self._at.keys()

    def text(self, cells: list[str], *names: str) -> str:
        """Return the first of these columns that there is."""
        return next((cells[self._at[name]] for name in names if name in self._at), "")

    def seconds(self, cells: list[str], name: str) -> float | None:
        """Return a time that is not negative [s]."""
        value = number(cells[self._at[name]])
        return value * self._scale[self._at[name]] if value is not None and value >= 0 else None


class _KernelTrace:
    def __init__(self, most_names: int) -> None:
        self._work = DeviceWork(most_names)

    def add(self, cells: list[str], header: _Header) -> None:
        start_s, duration_s = header.seconds(cells, "Start"), header.seconds(cells, "Duration")
        if start_s is None or duration_s is None:
            return
        name = header.text(cells, "Name")
        self._work.extend(
            start=[start_s],
            end=[start_s + duration_s],
            device=[header.text(cells, "Device")],
            stream=[header.text(cells, "Strm")],
            names=[name],
            kind=[COPY if _COPY.match(name) else KERNEL],
        )

    def describe(self, draft: Draft) -> bool:
        used = shares(self._work, None) if len(self._work) else None
        if used is None:
            return False
        used.describe(draft, self._work)
        draft.gpus = len(self._work.devices)
        draft.gpu_name = _device_name(str(next(iter(self._work.devices))))
        draft.warn("The report marks no steps, so the step time is not available.")
        return True


def _device_name(device: str) -> str | None:
    """Return the name before a number in brackets, None without one.

    >>> _device_name("NVIDIA H100 (0)")
    'NVIDIA H100'
    """
    name, _, number_ = device.removesuffix(")").rpartition("(")
    return name.rstrip() if name and device.endswith(")") and number_.isdigit() else None


class _KernelSums:
    def __init__(self) -> None:
        self._rows: list[KernelRow] = []

    def add(self, cells: list[str], header: _Header) -> None:
        total_s = header.seconds(cells, "Total Time")
        if total_s is None:
            return
        name = header.text(cells, "Name")
        calls = number(header.text(cells, "Instances", "Calls", "Count"))
        self._rows.append(
            KernelRow(
                name=clean(name) or "(no name)",
                calls=max(int(calls or 1), 1),
                total_s=total_s,
                is_comm=is_comm(name),
            )
        )

    def describe(self, draft: Draft) -> bool:
        whole_s = sum(row.total_s for row in self._rows)
        comm_s = sum(row.total_s for row in self._rows if row.is_comm)
        if whole_s <= 0:
            return False
        draft.kernels = tuple(sorted(self._rows, key=lambda row: -row.total_s)[:_TOP])
        draft.warn(
            f"Sums by kernel only: {comm_s / whole_s:.1%} of all kernel time is communication. How "
            "long the run took is not in the report, so shares of time and step time are not "
            "available; export cuda_gpu_trace instead."
        )
        return True
