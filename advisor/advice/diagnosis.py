"""What holds a measured run up, from its trace alone: no prediction is asked.

Each rule looks at one thing and speaks only if its share of a step matters. A saving is an estimate
from the parts of the trace; where the trace does not tell it, there is none.
"""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from advisor.core.units import GIB
from advisor.domain.base import Noun
from advisor.traces.kernel_kinds import is_matrix, without_tensor_cores
from advisor.traces.stragglers import straggler_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.traces.trace import Trace

Severity = Literal["high", "medium", "info"]
_ORDER: Final = ("high", "medium", "info")

_MATTERS: Final = 0.1
_HIGH: Final = 0.3
_IDLE: Final = 0.2
_AHEAD: Final = 1.1
_UNEVEN: Final = 3.0
_FULL: Final = 0.92
_ROOM: Final = 0.5
_SHORT_KERNEL_S: Final = 10e-6
# Loader processes take a part of the processors from the main one. In a public pair of traces of
# the same job (ResNet-50, V100, 0 and 4 loader processes) the step lost 0.7 of the waiting time.
HIDDEN_BY_WORKERS: Final = 0.7
_NO_TENSOR_CORES: Final = re.compile(r"\b(?:P100|P40|P4|K80|M60|GTX)\b", re.IGNORECASE)


class Finding(Noun):
    """Something that a trace shows about the speed of a run.

    Attributes
    ----------
    kind : str
        Short name of the rule.
    severity : {"high", "medium", "info"}
        How much it matters; info is good to know and costs nothing.
    sentence : str
        What is the case, with its numbers.
    evidence : tuple of str
        The fields of the trace behind it.
    help : str
        What would help; empty where nothing has to be done.
    step_time_after_s : float or None
        Step time if that succeeds [s], an estimate from the parts of the trace.
    """

    kind: str = Field(min_length=1)
    severity: Severity
    sentence: str = Field(min_length=1)
    evidence: tuple[str, ...] = ()
    help: str = ""
    step_time_after_s: float | None = Field(default=None, gt=0)


def diagnose(trace: Trace) -> tuple[Finding, ...]:
    """Return what the trace shows, the most severe first; nothing for what it does not show."""
    found = [finding for rule in _RULES for finding in rule(trace)]
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


def _severity(share: float) -> Severity:
    return "high" if share >= _HIGH else "medium"


def _input_bound(trace: Trace) -> Iterator[Finding]:
    step_s, host = trace.step_time_s, trace.host
    if step_s is None or host is None:
        return
    # The host may load while the GPU works: only what leaves it idle costs time.
    busy = trace.gpu_busy_share or 0.0
    exposed_s = min(host.loading_s, step_s * (1 - busy))
    share = exposed_s / step_s
    if share < _MATTERS:
        return
    after_s = max(step_s - HIDDEN_BY_WORKERS * exposed_s, step_s * busy)
    if host.loader_in_process:
        what = "Load in other processes: 4 workers instead of 0 would give"
    else:
        what = "More loader workers, more prefetching, or data stored decoded would give"
    yield Finding(
        kind="input-bound",
        severity=_severity(share),
        sentence=(
            f"The step waits {exposed_s * 1e3:.3g} ms of {step_s * 1e3:.4g} ms "
            f"({share:.0%}) for the next batch."
        ),
        evidence=("host.loading_s", "step_time_s", "gpu_busy_share"),
        help=f"{what} ~{after_s:.3g} s a step instead of {step_s:.3g} s.",
        step_time_after_s=after_s or None,
    )


def _launch_bound(trace: Trace) -> Iterator[Finding]:
    step_s, parts, host = trace.step_time_s, trace.parts, trace.host
    if step_s is None or parts is None or host is None or not host.launches:
        return
    loading = min(host.loading_s / step_s, 1.0)
    idle = parts.idle_s / parts.window_s - loading
    if idle < _IDLE:
        return
    busy_s = step_s * (1 - parts.idle_s / parts.window_s)
    length_s = busy_s / host.launches
    yield Finding(
        kind="launch-bound",
        severity=_severity(idle),
        sentence=(
            f"Beside loading, the GPU has nothing to do {idle:.0%} of the time: the host launches "
            f"{host.launches:,.0f} kernels and copies a step, {length_s * 1e6:.3g} µs each on "
            "average."
        ),
        evidence=("parts.idle_s", "host.launches"),
        help=(
            "Larger micro-batches, torch.compile or CUDA graphs, and no .item() or print of "
            f"tensors within a step; at best {step_s - idle * step_s:.3g} s a step."
        ),
        step_time_after_s=step_s * (1 - idle),
    )
    if length_s < _SHORT_KERNEL_S:
        yield Finding(
            kind="low-batch",
            severity="medium",
            sentence=(
                f"The work is cut into pieces of {length_s * 1e6:.3g} µs, about as long as "
                "launching one takes: the batch is small for this GPU."
            ),
            evidence=("parts", "host.launches"),
            help="A larger batch takes hardly longer a step; a smaller GPU would be as fast.",
        )


def _host_ahead(trace: Trace) -> Iterator[Finding]:
    step_s, host = trace.step_time_s, trace.host
    if step_s is None or host is None or (trace.gpu_busy_share or 0.0) < 1 - _MATTERS:
        return
    shortest_s = min(host.steps_s, default=step_s)
    if step_s > _AHEAD * shortest_s:
        yield Finding(
            kind="host-ahead",
            severity="info",
            sentence=(
                f"The host runs ahead: it launches a step in {shortest_s * 1e3:.3g} ms, for which "
                f"the GPU needs {step_s * 1e3:.4g} ms. Neither host nor loading limits this run."
            ),
            evidence=("host.steps_s", "step_time_s", "gpu_busy_share"),
        )


def _communication(trace: Trace) -> Iterator[Finding]:
    comm, exposed, step_s = trace.comm_share, trace.comm_exposed_share, trace.step_time_s
    if comm is None or exposed is None or comm < _MATTERS:
        return
    if exposed < _MATTERS:
        yield Finding(
            kind="communication-hidden",
            severity="info",
            sentence=(
                f"Communication takes {comm:.0%} of the time; all but {exposed:.0%} lies behind "
                "computation."
            ),
            evidence=("comm_share", "comm_exposed_share"),
        )
        return
    after_s = step_s * (1 - exposed) if step_s is not None and exposed < 1 else None
    best = f"; at best {after_s:.3g} s a step" if after_s is not None else ""
    yield Finding(
        kind="communication-exposed",
        severity=_severity(exposed),
        sentence=f"Communication holds the GPU up {exposed:.0%} of the time ({comm:.0%} in all).",
        evidence=("comm_share", "comm_exposed_share"),
        help=(
            "Faster links or fewer machines, larger batches or gradient accumulation, overlap of "
            f"reduction and backward pass{best}. Waiting for a slower rank counts as communication."
        ),
        step_time_after_s=after_s,
    )


def _straggler(trace: Trace) -> Iterator[Finding]:
    found = straggler_of(trace.ranks)
    if found is None:
        return
    yield Finding(
        kind="straggler",
        severity=_severity(1 - found.usual_s / found.step_time_s),
        sentence=(
            f"Rank {found.rank} is the slowest of {found.ranks}: {found.step_time_s * 1e3:.4g} ms "
            f"a step against {found.usual_s * 1e3:.4g} ms in the middle."
        ),
        evidence=("ranks",),
        help=(
            f"See what rank {found.rank} does beside (logging, larger shards, a throttled GPU); "
            f"evened out, {found.usual_s:.3g} s a step."
        ),
        step_time_after_s=found.usual_s,
    )


def _memory(trace: Trace) -> Iterator[Finding]:
    peak, whole = trace.peak_memory_bytes, trace.gpu_memory_bytes
    if peak is None or whole is None or peak > whole:
        return
    share = peak / whole
    amounts = f"{peak / GIB:.3g} of {whole / GIB:.3g} GiB ({share:.0%})"
    if share > _FULL:
        yield Finding(
            kind="memory-full",
            severity="medium",
            sentence=f"The memory of the GPU is nearly full: {amounts}.",
            evidence=("peak_memory_bytes", "gpu_memory_bytes"),
            help="Recompute activations or shard the optimizer before the batch or sequence grows.",
        )
    elif share < _ROOM:
        yield Finding(
            kind="memory-room",
            severity="info",
            sentence=f"Of the memory of the GPU only {amounts} is used.",
            evidence=("peak_memory_bytes", "gpu_memory_bytes"),
            help="Room for a larger batch, or a GPU with less memory would do.",
        )


def _tensor_cores(trace: Trace) -> Iterator[Finding]:
    rows = [row for row in trace.kernels if not row.is_comm]
    single_s = sum(row.total_s for row in rows if without_tensor_cores(row.name))
    matrix_s = sum(row.total_s for row in rows if is_matrix(row.name))
    shown_s = sum(row.total_s for row in rows)
    if not shown_s or single_s < _IDLE * shown_s or _NO_TENSOR_CORES.search(trace.gpu_name or ""):
        return
    yield Finding(
        kind="tensor-cores-unused",
        severity=_severity(single_s / shown_s),
        sentence=(
            f"Matrix kernels in single precision take {single_s / shown_s:.0%} of the time of the "
            f"longest kernels ({single_s / matrix_s:.0%} of all matrix work there)."
        ),
        evidence=("kernels",),
        help="Mixed precision (bf16 or fp16), or allow TF32 where the GPU has it.",
    )


def _warm_up(trace: Trace) -> Iterator[Finding]:
    steps = trace.host.steps_s if trace.host is not None else ()
    if len(steps) < 3 and not (steps and trace.step_time_s is None):
        return
    usual_s, longest_s = statistics.median(steps), max(steps)
    if len(steps) >= 3 and longest_s < _UNEVEN * max(usual_s, trace.step_time_s or 0.0):
        return
    number = steps.index(longest_s) + 1
    yield Finding(
        kind="warm-up",
        severity="medium",
        sentence=(
            f"Step {number} of {len(steps)} recorded ones took {longest_s:.3g} s: it started up or "
            "compiled anew."
        ),
        evidence=("host.steps_s",),
        help="Record after warm-up; if it recurs, keep shapes the same or mark them as dynamic.",
    )


_RULES: Final[tuple[Callable[[Trace], Iterator[Finding]], ...]] = (
    *(_input_bound, _communication, _straggler, _launch_bound, _tensor_cores),
    *(_warm_up, _memory, _host_ahead),
)
