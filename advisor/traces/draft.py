"""A trace in the making: readers fill it, and nothing absurd gets out of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from advisor.core.units import TB
from advisor.traces.scrub import clean
from advisor.traces.trace import (
    CollectiveRow,
    HostTime,
    KernelRow,
    OperatorRow,
    Parts,
    RankRow,
    Timeline,
    Trace,
)

_YEAR_S: Final = 366 * 86_400.0
# Beyond these a number is a mistake of the file or of its units.
HIGHEST: Final[dict[str, float]] = {
    "step_time_s": _YEAR_S,
    "peak_memory_bytes": 100 * TB,
    "gpu_memory_bytes": 100 * TB,
    "global_batch": 1e12,
    "micro_batch": 1e12,
    "throughput": 1e15,
    "params": 1e16,
    "usd_per_h": 1e6,
    "gpus": 1e7,
    "gpus_on_host": 4096,
    "nodes": 1e6,
    "steps": 1e12,
    "sequence_length": 1e9,
}
_WHOLE: Final = frozenset({"gpus", "gpus_on_host", "nodes", "steps", "sequence_length"})
_MAY_BE_ZERO: Final = frozenset({"gpus", "steps"})
_TEXTS: Final = ("gpu_name", "model", "precision", "framework", "throughput_unit", "instance_type")
_MOST_WARNINGS: Final = 40


@dataclass(kw_only=True)
class Draft:
    """The fields of `Trace`, as a reader finds them.

    `finish` gives the trace: numbers that are not finite or not possible are left out with a
    warning, shares are held within 0 and 1, texts lose what is personal.
    """

    format: str
    step_time_s: float | None = None
    steps: int | None = None
    gpu_busy_share: float | None = None
    comm_share: float | None = None
    comm_exposed_share: float | None = None
    gpus: int | None = None
    gpu_name: str | None = None
    peak_memory_bytes: float | None = None
    global_batch: float | None = None
    throughput: float | None = None
    throughput_unit: str | None = None
    gpus_on_host: int | None = None
    gpu_memory_bytes: float | None = None
    nodes: int | None = None
    instance_type: str | None = None
    usd_per_h: float | None = None
    micro_batch: float | None = None
    model: str | None = None
    params: float | None = None
    sequence_length: int | None = None
    precision: str | None = None
    framework: str | None = None
    layout: str = ""
    ranks: tuple[RankRow, ...] = ()
    operators: tuple[OperatorRow, ...] = ()
    collectives: tuple[CollectiveRow, ...] = ()
    parts: Parts | None = None
    timeline: Timeline | None = None
    host: HostTime | None = None
    kernels: tuple[KernelRow, ...] = ()
    warnings: list[str] = field(default_factory=list)

    def warn(self, sentence: str) -> None:
        """Add a warning once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def finish(self) -> Trace:
        """Return the trace."""
        for name, highest in HIGHEST.items():
            value = self._possible(name, highest)
            setattr(self, name, int(value) if value is not None and name in _WHOLE else value)
        for name in ("gpu_busy_share", "comm_share", "comm_exposed_share"):
            setattr(self, name, self._share(name))
        for name in _TEXTS:
            text = getattr(self, name)
            setattr(self, name, (clean(str(text)) or None) if text is not None else None)
        if self.throughput is None:
            self.throughput_unit = None
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["layout"] = clean(self.layout)
        fields["warnings"] = tuple(clean(text, 600) for text in self.warnings[:_MOST_WARNINGS])
        return Trace(**fields)

    def _possible(self, name: str, highest: float) -> float | None:
        value = getattr(self, name)
        if value is None:
            return None
        low = value < 0 or (value == 0 and name not in _MAY_BE_ZERO)
        # Compared first: an integer may be too large to become a float.
        if low or value > highest or not math.isfinite(value):
            self.warn(f"The file gives {value!s:.20} as {name}, which is not possible; left out.")
            return None
        return float(value)

    def _share(self, name: str) -> float | None:
        value = getattr(self, name)
        if value is None or not math.isfinite(value):
            return None
        return min(max(float(value), 0.0), 1.0)
