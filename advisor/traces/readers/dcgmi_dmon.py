"""``dcgmi dmon``: columns of numbers, one row per device and second."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.core.units import MIB
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb"^#\s*Entity\s[^\n]*[A-Z]{4}", re.MULTILINE)
_ROW: Final = re.compile(r"^\s*GPU(?:-I)?\s+(\d{1,6})\s+(\S.*)$")
# Graphics engine active, and the older use that nvidia-smi gives too; the first one counts.
_USE: Final = (("GRACT", 1.0), ("GPUTL", 0.01))
_UTILISED: Final = ("SMACT", "SMOCC", "TENSO", "DRAMA")


@READERS.register("dcgmi_dmon")
class DcgmiDmonReader:
    """Use of the devices over the whole file, and peak memory if it was asked for."""

    label: ClassVar[str] = "dcgmi dmon output"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 16

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the header line."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all samples."""
        names: list[str] = []
        values: dict[str, list[float]] = defaultdict(list)
        devices: set[str] = set()
        for line in source.lines():
            if "Entity" in line:
                names = line.split("Entity", 1)[1].split()
            elif row := _ROW.match(line):
                devices.add(row[1])
                for name, cell in zip(names, row[2].split(), strict=False):
                    if (value := number(cell)) is not None and value >= 0:
                        values[name].append(value)
        if not values:
            raise TraceError(
                "no sample has a value.",
                where=source.name,
                todo="Record with: dcgmi dmon -e 1001,1002,1004,252.",
            )
        return _describe(values, len(devices))


def _describe(values: dict[str, list[float]], devices: int) -> Trace:
    draft = Draft(format="dcgmi_dmon", gpus=devices)
    for name, scale in _USE:
        if draft.gpu_busy_share is None and values.get(name):
            draft.gpu_busy_share = statistics.fmean(values[name]) * scale
    if values.get("FBUSD"):
        draft.peak_memory_bytes = max(values["FBUSD"]) * MIB
    means = [f"{name} {statistics.fmean(values[name]):.1%}" for name in _UTILISED if values[name]]
    if means:
        draft.warn(f"Means of the profiling counters: {', '.join(means)}.")
    draft.warn("Step time and communication are not in the file; the mean is over the whole file.")
    return draft.finish()
