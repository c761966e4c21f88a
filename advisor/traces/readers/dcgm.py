"""One answer of a DCGM exporter, as Prometheus reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import number
from advisor.traces.reader import READERS
from advisor.traces.scrub import counted

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

# The first exporter wrote small letters.
_LINE: Final = re.compile(r"^(DCGM_FI_\w+|dcgm_\w+)\{([^}]*)\} (\S+)")
_SNIFF: Final = re.compile(rb"^(?:DCGM_FI_|dcgm_)\w+\{", re.MULTILINE)
_LABEL: Final = re.compile(r'(?<!\w)(\w{1,64})="([^"]{0,1000})"')
# DCGM writes “no value” as numbers from here on.
_BLANK: Final = 9.2e18


@READERS.register("dcgm_prometheus_text")
class DcgmReader:
    """Devices and their names; one moment is no share of a job."""

    label: ClassVar[str] = "DCGM exporter text"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 17

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a metric of DCGM."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read one scrape."""
        devices: set[str] = set()
        names: list[str] = []
        blanks = 0
        for line in source.lines():
            found = _LINE.match(line)
            if found is None:
                continue
            labels = dict(_LABEL.findall(found[2]))
            devices.add(labels.get("UUID") or labels.get("uuid") or labels.get("gpu", ""))
            names += [labels["modelName"]] if labels.get("modelName") else []
            value = number(found[3])
            blanks += value is None or value > _BLANK
        if not devices:
            raise TraceError(
                "no line with a value of a device.",
                where=source.name,
                todo="Save what the exporter answers at /metrics.",
            )
        draft = Draft(format="dcgm_prometheus_text", gpus=len(devices))
        draft.gpu_name = names[0] if names else None
        draft.warn(
            "This is one moment and no record over time, so shares and step time are not "
            "available; record with “dcgmi dmon” or nvidia-smi while the job runs."
        )
        if blanks:
            draft.warn(
                f"Not used: {counted(blanks, 'value')} that DCGM left blank (a huge number)."
            )
        return draft.finish()
