"""Findings about the host: loading, launching, compiling, or well ahead of the device."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from advisor.advice.finding import MATTERS, Finding, idle_share, severity_of
from advisor.core.units import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.trace import HostTime, Trace

_IDLE: Final = 0.2
_AHEAD: Final = 1.1
_UNEVEN: Final = 3.0
_SHORT_KERNEL_S: Final = 10e-6
# PyTorch takes 5 to 50 µs for an operator and its launch, twice that while it is profiled. A host
# that leaves the device idle for longer per launch is busy with something else.
_LAUNCH_S: Final = 100e-6
# Loader processes take a part of the processors from the main one. In a public pair of traces of
# the same job (ResNet-50, V100, 0 and 4 loader processes) the step lost 0.7 of the waiting time.
HIDDEN_BY_WORKERS: Final = 0.7


def input_bound(trace: Trace) -> Iterator[Finding]:
    """Look for steps that wait for the next batch."""
    step_s, host = trace.step_time_s, trace.host
    if step_s is None or host is None:
        return
    # The host may load while the GPU works: only what leaves it idle costs time.
    busy = trace.gpu_busy_share or 0.0
    exposed_s = min(host.loading_s, step_s * (1 - busy))
    share = exposed_s / step_s
    if share < MATTERS:
        return
    after_s = max(step_s - HIDDEN_BY_WORKERS * exposed_s, step_s * busy)
    if host.loader_in_process:
        what = "Load in other processes: 4 workers instead of 0 would give"
    else:
        what = "More loader workers, more prefetching, or data stored decoded would give"
    yield Finding(
        kind="input-bound",
        severity=severity_of(share),
        sentence=(
            f"The step waits {exposed_s * 1e3:.3g} ms of {step_s * 1e3:.4g} ms "
            f"({share:.0%}) for the next batch."
        ),
        evidence=("host.loading_s", "step_time_s", "gpu_busy_share"),
        help=f"{what} ~{after_s:.3g} s a step instead of {step_s:.3g} s.",
        step_time_after_s=after_s or None,
    )


def host_bound(trace: Trace) -> Iterator[Finding]:
    """Look for a device that waits for the host beside loading: for launches or something else."""
    step_s, host, idle = trace.step_time_s, trace.host, idle_share(trace)
    if step_s is None or idle is None or host is None or host.launches < 1:
        return
    busy_s = step_s * (1 - idle)
    idle -= min(host.loading_s / step_s, 1.0)
    if idle < _IDLE:
        return
    length_s = busy_s / host.launches
    yield _launching(idle, length_s, step_s, host)
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


def _launching(idle: float, length_s: float, step_s: float, host: HostTime) -> Finding:
    launching = idle * step_s / host.launches <= _LAUNCH_S
    if launching:
        remedy = "Larger micro-batches, torch.compile or CUDA graphs"
    else:
        remedy = (
            "That is longer than launching takes: see what the host does between (data, logging, "
            "Python, other processes)"
        )
    waits = ""
    if host.sync_s >= MATTERS * step_s:
        waits = f" For {host.sync_s * 1e3:.3g} ms of it the host itself waits for the GPU."
        remedy += ", no .item() or print of tensors within a step"
    each_us = step_s / host.launches * 1e6
    return Finding(
        kind="launch-bound" if launching else "host-bound",
        severity=severity_of(idle),
        sentence=(
            f"Beside loading, the GPU has nothing to do {percent(idle)} of the time: the host "
            f"launches {host.launches:,.0f} kernels and copies a step, one each {each_us:,.0f} µs, "
            f"and the GPU needs {length_s * 1e6:.3g} µs for one.{waits}"
        ),
        evidence=("parts.idle_s", "host.launches", "host.sync_s"),
        help=f"{remedy}; at best {step_s - idle * step_s:.3g} s a step. A profiler slows the host.",
        step_time_after_s=step_s * (1 - idle) or None,
    )


def host_ahead(trace: Trace) -> Iterator[Finding]:
    """Say that the device is what takes the time."""
    step_s, host = trace.step_time_s, trace.host
    if step_s is None or host is None or (trace.gpu_busy_share or 0.0) < 1 - MATTERS:
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


def warm_up(trace: Trace) -> Iterator[Finding]:
    """Look for a step that took many times as long as the others."""
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
