"""What holds a measured run up, from its trace alone: no prediction is asked.

Each rule looks at one thing and speaks only if its share of a step matters. A saving is an estimate
from the parts of the trace; where the trace does not tell it, there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.advice.device_findings import communication, copies, memory, straggler, tensor_cores
from advisor.advice.finding import ORDER, Finding, Severity
from advisor.advice.host_findings import host_ahead, host_bound, input_bound, warm_up
from advisor.core.units import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.traces.trace import Trace

__all__ = ["Finding", "Severity", "diagnose"]

_MOSTLY_IDLE: Final = 0.5
# What says of an idle device why it is idle.
_EXPLAINED: Final = frozenset({"input-bound", "launch-bound", "host-bound", "warm-up"})


def diagnose(trace: Trace) -> tuple[Finding, ...]:
    """Return what the trace shows, the most severe first; nothing for what it does not show."""
    found = [finding for rule in _RULES for finding in rule(trace)]
    if not _EXPLAINED & {finding.kind for finding in found}:
        found += _idle(trace)
    return tuple(sorted(found, key=lambda finding: ORDER.index(finding.severity)))


def _idle(trace: Trace) -> Iterator[Finding]:
    """Say that a device is idle where the file does not tell why."""
    busy = trace.gpu_busy_share
    if busy is None or busy >= _MOSTLY_IDLE or trace.gpus == 0:
        return
    yield Finding(
        kind="gpu-idle",
        severity="medium",
        sentence=(
            f"The GPU has nothing to do {percent(1 - busy)} of the time that was recorded; this "
            "file does not tell why."
        ),
        evidence=("gpu_busy_share",),
        help=(
            "Record some steps after warm-up with the PyTorch profiler, each marked by "
            "profiler.step(): that shows whether loading, the host or something else is behind it."
        ),
    )


_RULES: Final[tuple[Callable[[Trace], Iterator[Finding]], ...]] = (
    *(input_bound, communication, straggler, host_bound, copies, tensor_cores),
    *(warm_up, memory, host_ahead),
)
