"""``nvidia-smi --query-gpu=… --format=csv``, with or without its header."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import MIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.pace import stamp_s
from advisor.traces.reader import READERS
from advisor.traces.tables import delimiter_of, first_cells, rows

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_STAMP: Final = re.compile(r"^\d{4}[/-]\d\d[/-]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?$")
_VALUE: Final = re.compile(r"^(-?[\d.]+)\s*(%|MiB|W|MHz)?$")
_USE, _USED, _TOTAL, _NAME, _INDEX = "use", "used", "total", "name", "index"
_HEADER: Final = {
    "utilization.gpu": _USE,
    "memory.used": _USED,
    "used_gpu_memory": _USED,
    "used_memory": _USED,
    "memory.total": _TOTAL,
    "name": _NAME,
    "gpu_name": _NAME,
    "index": _INDEX,
    "uuid": _INDEX,
    "gpu_uuid": _INDEX,
    "pci.bus_id": _INDEX,
    "gpu_bus_id": _INDEX,
}
# Of the memory of a device, the driver keeps a little for itself.
_RESERVED_SHARE: Final = 0.05
_FEWEST_NUMBERS: Final = 2
_TELLING: Final = frozenset({"utilization.gpu", "memory.used", "used_gpu_memory", "used_memory"})


@dataclass
class _Found:
    use: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    peak_mib: float = 0.0
    total_mib: float = 0.0
    name: str | None = None
    stamps: list[float] = field(default_factory=list)

    def feed(self, cells: list[str], columns: dict[str, int]) -> None:
        row = {what: cells[at] for what, at in columns.items() if at < len(cells)}
        use = _value(row.get(_USE, ""))
        stamp = next((stamp_s(cell) for cell in cells if _STAMP.match(cell)), None)
        if stamp is not None:
            self.stamps.append(stamp)
        if use is not None:
            self.use[row.get(_INDEX, "")].append(min(use, 100.0) / 100)
        self.peak_mib = max(self.peak_mib, _value(row.get(_USED, "")) or 0.0)
        self.total_mib = max(self.total_mib, _value(row.get(_TOTAL, "")) or 0.0)
        self.name = self.name or row.get(_NAME)


@READERS.register("nvidia_smi_csv")
class NvidiaSmiReader:
    """Use of the devices over the whole file, and peak memory."""

    label: ClassVar[str] = "nvidia-smi CSV"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 15

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the header, or values with the units that nvidia-smi writes."""
        cells = first_cells(head)
        if any(_key(cell) in _TELLING for cell in cells):
            return True
        stamped = any(_STAMP.match(cell) for cell in cells)
        return stamped and (
            any(cell.endswith((" %", " MiB")) for cell in cells)
            or sum(_VALUE.match(cell) is not None for cell in cells) >= _FEWEST_NUMBERS
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all samples."""
        found, columns = _Found(), dict[str, int]()
        guessed = False
        for cells in rows(source, source.lines(), delimiter_of(source.head)):
            if any(_key(cell) in _HEADER for cell in cells):
                columns = _columns(cells)  # appended files repeat the header
                continue
            if not columns:
                columns, guessed = _guess(cells), True
            found.feed(cells, columns)
        if not found.use and not found.peak_mib:
            raise TraceError(
                "no sample has utilization.gpu or memory.used.",
                where=source.name,
                todo="Keep the header and the units (--format=csv without noheader, nounits); "
                "query timestamp,index,name,utilization.gpu,memory.used,memory.total.",
            )
        return _describe(found, guessed=guessed)


def _key(cell: str) -> str:
    return cell.split("[", maxsplit=1)[0].strip().lower()


def _columns(cells: list[str]) -> dict[str, int]:
    columns: dict[str, int] = {}
    for at, cell in enumerate(cells):
        if (what := _HEADER.get(_key(cell))) is not None:
            columns.setdefault(what, at)
    return columns


def _guess(cells: list[str]) -> dict[str, int]:
    """Map columns by the units of their values: use before use of memory, used before free."""
    columns: dict[str, int] = {}
    mib = [at for at, cell in enumerate(cells) if cell.endswith(" MiB")]
    sizes = [_value(cells[at]) or 0.0 for at in mib]
    if len(mib) == 3 and abs(sizes[0] - sizes[1] - sizes[2]) <= _RESERVED_SHARE * sizes[0]:
        columns |= {_TOTAL: mib[0], _USED: mib[1]}  # used and free add up to the first
    for at, cell in enumerate(cells):
        unit = {"%": _USE, "MiB": _USED}.get(cell.rsplit(" ", 1)[-1])
        if unit is not None:
            columns.setdefault(unit, at)
        elif re.search(r"[A-Za-z]{3}", cell) and "[" not in cell:
            columns.setdefault(_NAME, at)
    return columns


def _value(cell: str) -> float | None:
    found = _VALUE.match(cell)
    return number(found[1]) if found else None


def _describe(found: _Found, *, guessed: bool) -> Trace:
    draft = Draft(format="nvidia_smi_csv", gpu_name=found.name)
    draft.gpus = len(found.use) if len(found.use) > 1 else _devices_at_once(found.stamps)
    draft.peak_memory_bytes = found.peak_mib * MIB or None
    draft.gpu_memory_bytes = found.total_mib * MIB or None
    samples = [value for values in found.use.values() for value in values]
    if samples:
        draft.gpu_busy_share = statistics.fmean(samples)
        _warn_of_idle(draft, samples)
    draft.warn(
        "The use that nvidia-smi gives is the share of time in which any kernel ran, and not how "
        "well it used the device; step time and communication are not in the file."
    )
    if guessed:
        draft.warn("The file has no header; its columns were told by the units of their values.")
    return draft.finish()


def _devices_at_once(stamps: list[float]) -> int:
    """Return how many samples come together: one per device, within milliseconds."""
    gaps = [b - a for a, b in pairwise(stamps)]
    if not gaps:
        return 1
    period = sorted(gaps)[int(0.97 * (len(gaps) - 1))]
    bursts, size = [], 1
    for gap in gaps:
        if gap > period / 2:
            bursts.append(size)
            size = 0
        size += 1
    return int(statistics.median(bursts or [size]))


def _warn_of_idle(draft: Draft, samples: list[float]) -> None:
    active = [value for value in samples if value > 0]
    if active and len(active) < len(samples):
        draft.warn(
            f"The mean over the whole file is {statistics.fmean(samples):.1%}, over the "
            f"{len(active) / len(samples):.1%} of samples with any use "
            f"{statistics.fmean(active):.1%}; cut the file to the job for a share of the job."
        )
