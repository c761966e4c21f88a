"""``nvidia-smi dmon``: columns of numbers under two header lines."""

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

_HEADER: Final = re.compile(
    rb"^#[^\n]{0,100}\bgpu[\s,][^\n]{0,300}\b(?:sm|pwr|fb|mclk)\b", re.MULTILINE
)


@READERS.register("nvidia_smi_dmon")
class NvidiaSmiDmonReader:
    """Use of the multiprocessors over the whole file, and peak memory if it was asked for."""

    label: ClassVar[str] = "nvidia-smi dmon output"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 16

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See the header line."""
        return _HEADER.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read all samples."""
        columns: dict[str, int] = {}
        use: dict[str, list[float]] = defaultdict(list)
        peak_mib = 0.0
        for line in source.lines():
            cells = line.replace(",", " ").split()
            if line.startswith("#"):
                names = line.replace(",", " ").lstrip("# ").split()
                if "gpu" in names:
                    columns = {name: at for at, name in enumerate(names)}
                continue
            if not columns or len(cells) <= max(columns.values()):
                continue
            share = number(cells[columns["sm"]]) if "sm" in columns else None
            if share is not None:
                use[cells[columns["gpu"]]].append(min(share, 100.0) / 100)
            if "fb" in columns:
                peak_mib = max(peak_mib, number(cells[columns["fb"]]) or 0.0)
        if not use and not peak_mib:
            raise TraceError(
                "no sample has a use (sm) or memory (fb).",
                where=source.name,
                todo="Record with: nvidia-smi dmon -s um.",
            )
        draft = Draft(format="nvidia_smi_dmon", gpus=len(use) or None)
        draft.peak_memory_bytes = peak_mib * MIB or None
        samples = [value for values in use.values() for value in values]
        draft.gpu_busy_share = statistics.fmean(samples) if samples else None
        draft.warn(
            "The use that nvidia-smi gives is the share of time in which any kernel ran; step time "
            "and communication are not in the file."
        )
        return draft.finish()
