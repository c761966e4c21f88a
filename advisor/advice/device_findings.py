"""Findings about devices: communication, copies, slow ranks, memory, tensor cores."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING, Final

from advisor.advice.finding import MATTERS, Finding, severity_of
from advisor.core.units import GIB, percent
from advisor.traces.kernel_kinds import is_matrix, without_tensor_cores
from advisor.traces.stragglers import straggler_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.trace import Trace

_FULL: Final = 0.92
_ROOM: Final = 0.5
_MOSTLY: Final = 0.5
_FEWEST_RANKS: Final = 3
_NO_TENSOR_CORES: Final = re.compile(r"\b(?:P100|P40|P4|K80|M60|GTX)\b", re.IGNORECASE)
# Volta and Turing multiply matrices in fp16 only.
_FP16_ONLY: Final = re.compile(r"V100|\bT4G?\b|TITAN|RTX[- ]?20|Quadro RTX|TU1", re.IGNORECASE)
_AMD: Final = re.compile(r"AMD|Instinct|\bMI\d{2,3}", re.IGNORECASE)


def _without(share: float, step_s: float | None) -> tuple[float | None, str]:
    """Return the step time without a share of it [s], and words for it; nothing if not known."""
    if step_s is None or share >= 1:
        return None, ""
    after_s = step_s * (1 - share)
    return after_s, f"; at best {after_s:.3g} s a step"


def communication(trace: Trace) -> Iterator[Finding]:
    """Tell communication that holds the devices up from that which hides behind computation."""
    comm, exposed, step_s = trace.comm_share, trace.comm_exposed_share, trace.step_time_s
    if comm is None or exposed is None or comm < MATTERS:
        return
    if exposed < MATTERS:
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
    after_s, best = _without(exposed, step_s)
    yield Finding(
        kind="communication-exposed",
        severity=severity_of(exposed),
        sentence=f"Communication holds the GPU up {exposed:.0%} of the time ({comm:.0%} in all).",
        evidence=("comm_share", "comm_exposed_share"),
        help=(
            "Faster links or fewer machines, larger batches or gradient accumulation, overlap of "
            f"reduction and backward pass{best}. Waiting for a slower rank counts as communication."
        ),
        step_time_after_s=after_s,
    )


def straggler(trace: Trace) -> Iterator[Finding]:
    """Look for the rank with the longest step, or the one for which the others wait."""
    found = straggler_of(trace.ranks)
    if found is None:
        yield from _waited_for(trace)
        return
    yield Finding(
        kind="straggler",
        severity=severity_of(1 - found.usual_s / found.step_time_s),
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


def _waited_for(trace: Trace) -> Iterator[Finding]:
    """Look for one rank that waits far less in collectives than all others.

    Ranks that exchange data in every step take equally long a step; the slow one arrives last, so
    that it alone does not wait.
    """
    exposed = sorted(
        (row.comm_exposed_share, row.rank)
        for row in trace.ranks
        if row.comm_exposed_share is not None
    )
    if len(exposed) < _FEWEST_RANKS:
        return
    (least, rank), (next_least, _) = exposed[:2]
    usual = statistics.median(share for share, _ in exposed)
    # Stages of a pipeline differ as well, but then several ranks communicate little.
    if usual - least < MATTERS or next_least - least < _MOSTLY * (usual - least):
        return
    after_s, best = _without(usual - least, trace.step_time_s)
    yield Finding(
        kind="straggler",
        severity=severity_of(usual - least),
        sentence=(
            f"The others wait for rank {rank}: it communicates {least:.0%} of the time without "
            f"computing, the middle one of {len(exposed)} ranks {usual:.0%}."
        ),
        evidence=("ranks",),
        help=f"See what rank {rank} does beside (logging, larger shards, a throttled GPU){best}.",
        step_time_after_s=after_s,
    )


def copies(trace: Trace) -> Iterator[Finding]:
    """Look for copies that no kernel hides."""
    parts, step_s = trace.parts, trace.step_time_s
    if parts is None or parts.memcpy_s < MATTERS * parts.window_s:
        return
    share = parts.memcpy_s / parts.window_s
    after_s, best = _without(share, step_s)
    yield Finding(
        kind="copies-exposed",
        severity=severity_of(share),
        sentence=f"Copies and fills of memory hold the GPU up {share:.0%} of the time.",
        evidence=("parts.memcpy_s",),
        help=(
            "Keep tensors on the GPU; copy batches from pinned memory with non_blocking=True; "
            f"offload less{best}."
        ),
        step_time_after_s=after_s,
    )


def memory(trace: Trace) -> Iterator[Finding]:
    """Say how near the peak comes to the memory of a device."""
    peak, whole = trace.peak_memory_bytes, trace.gpu_memory_bytes
    if peak is None or whole is None or peak > whole:
        return
    share = peak / whole
    amounts = f"{peak / GIB:.3g} of {whole / GIB:.3g} GiB ({percent(share)})"
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


def tensor_cores(trace: Trace) -> Iterator[Finding]:
    """Look for matrix work in single precision that takes a part of the step worth saving."""
    rows = [row for row in trace.kernels if not row.is_comm]
    single_s = sum(row.total_s for row in rows if without_tensor_cores(row.name))
    matrix_s = sum(row.total_s for row in rows if is_matrix(row.name))
    shown_s = sum(row.total_s for row in rows)
    name, parts = trace.gpu_name or "", trace.parts
    if not shown_s or _NO_TENSOR_CORES.search(name):
        return
    computing = 1.0 if parts is None else parts.compute_s / parts.window_s
    share = single_s / shown_s * computing
    if share < MATTERS:
        return
    yield Finding(
        kind="tensor-cores-unused",
        severity=severity_of(share),
        sentence=(
            f"Matrix kernels in single precision take {single_s / shown_s:.0%} of the time of the "
            f"longest kernels ({single_s / matrix_s:.0%} of all matrix work there), about "
            f"{share:.0%} of the step."
        ),
        evidence=("kernels", "parts.compute_s"),
        help=_faster_precision(name),
    )


def _faster_precision(gpu_name: str) -> str:
    if _FP16_ONLY.search(gpu_name):
        return "Mixed precision in fp16: the tensor cores of this GPU know no bf16 or TF32."
    if _AMD.search(gpu_name):
        return "Mixed precision in bf16 or fp16, which the matrix cores multiply."
    return "Mixed precision (bf16 or fp16), or allow TF32 where the GPU has it."
