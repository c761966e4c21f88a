"""What a trace lets one guess of its workload: a suggestion to be corrected, never a fact.

What a file says itself stays in `Trace`; a guess is made only of what it leaves open.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar

from pydantic import Field

from advisor.core.units import GB
from advisor.domain.base import Noun
from advisor.traces.kernel_kinds import is_matrix, precision_of

if TYPE_CHECKING:
    from advisor.traces.trace import OperatorRow, Trace

T = TypeVar("T")
Confidence = Literal["high", "medium", "low"]

_IMAGE_CHANNELS: Final = frozenset({1, 3, 4})
_SMALLEST_IMAGE: Final = 16
_FEWEST_VOCABULARY: Final = 1000
_DTYPES: Final = {"BFloat16": "bf16", "Half": "fp16", "Float": "fp32"}
# Memory of the sizes that were sold [GB], as the driver gives it.
_BY_MEMORY: Final = {"A100": (42.5, 85.0), "H100": (85.0,), "V100": (17.0, 34.1)}
_SHARDED: Final = re.compile(r"AllGather|ReduceScatter|reduce_scatter|all_gather", re.IGNORECASE)
_EXPERTS: Final = re.compile(r"AllToAll|all_to_all", re.IGNORECASE)
_PIPELINE: Final = re.compile(r"SendRecv|send_recv", re.IGNORECASE)
_REDUCE: Final = re.compile(r"AllReduce|all_reduce|Generic", re.IGNORECASE)
_GROUPS: Final = (
    *(("tp", "tensor|tp"), ("pp", "pipeline|pp")),
    *(("cp", "context|cp"), ("ep", "expert|ep")),
)


class Guess(Noun, Generic[T]):
    """A value that a trace suggests, why, and how sure that is."""

    value: T
    evidence: tuple[str, ...] = Field(min_length=1)
    confidence: Confidence


class Guesses(Noun):
    """Guesses of what the trace leaves open; None where it suggests nothing."""

    model: Guess[str] | None = None
    global_batch: Guess[float] | None = None
    micro_batch: Guess[float] | None = None
    sequence_length: Guess[int] | None = None
    precision: Guess[str] | None = None
    gpu_name: Guess[str] | None = None
    layout: Guess[str] | None = None


def guess(trace: Trace) -> Guesses:
    """Return guesses of the fields that a trace leaves open."""
    micro = None if trace.micro_batch else _micro_batch(trace.operators)
    layout = None if trace.layout else _layout(trace)
    return Guesses(
        model=None if trace.model else _model(trace.operators),
        micro_batch=micro,
        global_batch=None if trace.global_batch else _global_batch(trace, micro, layout),
        sequence_length=None if trace.sequence_length else _sequence_length(trace.operators),
        precision=None if trace.precision else _precision(trace),
        gpu_name=None if trace.gpu_name else _gpu_name(trace),
        layout=layout,
    )


def _images(operators: tuple[OperatorRow, ...]) -> OperatorRow | None:
    """Return the convolution that sees the images, None where there is none."""
    for row in operators:
        if row.name == "aten::convolution" and row.shapes and len(row.shapes[0]) == 4:
            _, channels, height, _ = row.shapes[0]
            if channels in _IMAGE_CHANNELS and height >= _SMALLEST_IMAGE:
                return row
    return None


def _attention(operators: tuple[OperatorRow, ...]) -> OperatorRow | None:
    """Return the largest attention: batch, heads, sequence, size of a head."""
    rows = [r for r in operators if "dot_product" in r.name and r.shapes and len(r.shapes[0]) == 4]
    return max(rows, key=lambda row: math.prod(row.shapes[0]), default=None)


def _micro_batch(operators: tuple[OperatorRow, ...]) -> Guess[float] | None:
    if (images := _images(operators)) is not None:
        return Guess[float](
            value=images.shapes[0][0],
            evidence=(f"The first convolution has the input {_shown(images)}.",),
            confidence="high",
        )
    if (attention := _attention(operators)) is not None:
        return Guess[float](
            value=attention.shapes[0][0],
            evidence=(f"Attention has the input {_shown(attention)}.",),
            confidence="medium",
        )
    convolutions = [r for r in operators if r.name == "aten::convolution" and r.shapes]
    batches = Counter(row.shapes[0][0] for row in convolutions if len(row.shapes[0]) == 4)
    if not batches:
        return None
    value, count = batches.most_common(1)[0]
    return Guess[float](
        value=value,
        evidence=(f"{count} of {len(convolutions)} convolutions have a batch of {value}.",),
        confidence="medium",
    )


def _sequence_length(operators: tuple[OperatorRow, ...]) -> Guess[int] | None:
    attention = _attention(operators)
    if attention is None:
        return None
    return Guess[int](
        value=attention.shapes[0][2],
        evidence=(f"Attention has the input {_shown(attention)}.",),
        confidence="medium",
    )


def _model(operators: tuple[OperatorRow, ...]) -> Guess[str] | None:
    if (attention := _attention(operators)) is not None:
        heads, size = attention.shapes[0][1], attention.shapes[0][3]
        evidence = [f"Attention has {heads} heads of {size}: {_shown(attention)}."]
        tables = [r.shapes[0] for r in operators if r.name == "aten::embedding" and r.shapes]
        words = max((t[0] for t in tables if len(t) == 2), default=0)
        if words >= _FEWEST_VOCABULARY:
            evidence.append(f"The largest embedding has {words:,} rows.")
        value = f"transformer, hidden {heads * size}"
        return Guess[str](value=value, evidence=tuple(evidence), confidence="low")
    return _network(operators)


def _network(operators: tuple[OperatorRow, ...]) -> Guess[str] | None:
    convolutions = [r for r in operators if r.name == "aten::convolution" and len(r.shapes) > 1]
    weights = {row.shapes[1] for row in convolutions}
    if (512, 512, 3, 3) in weights and (1024, 256, 1, 1) not in weights:
        name, seen = "ResNet-18 or ResNet-34", "3×3 convolutions of 512 channels and no bottlenecks"
    elif (1024, 256, 1, 1) in weights and (256, 256, 3, 3) in weights:
        name, seen = "ResNet-50", "bottlenecks of 256 and 1024 channels"
    elif weights:
        name, seen = "convolutional network", f"{len(weights)} shapes of convolutions"
    elif any(row.name == "aten::embedding_bag" for row in operators):
        name, seen = "recommendation model", "lookups in bags of embeddings"
    else:
        return None
    sure: Confidence = "medium" if name.startswith("ResNet") else "low"
    return Guess[str](value=name, evidence=(f"The shapes show {seen}.",), confidence=sure)


def _precision(trace: Trace) -> Guess[str] | None:
    rows = [row for row in trace.kernels if not row.is_comm and is_matrix(row.name)]
    seconds: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        found = precision_of(row.name)
        if found is not None:
            seconds[found] += row.total_s
    whole_s = sum(row.total_s for row in rows)
    if seconds and whole_s > 0:
        name, most = max(seconds.items(), key=lambda item: item[1])
        share = most / whole_s
        return Guess[str](
            value=name,
            evidence=(f"{name}: {share:.0%} of the time of the longest matrix kernels.",),
            confidence="high" if share > 0.8 else "medium",
        )
    sent = next((r for r in trace.collectives if r.dtype in _DTYPES and r.elements), None)
    if sent is None:
        return None
    return Guess[str](
        value=_DTYPES[sent.dtype],
        evidence=(f"{sent.elements:,.0f} elements were exchanged as {sent.dtype}.",),
        confidence="low",
    )


def _gpu_name(trace: Trace) -> Guess[str] | None:
    memory = (trace.gpu_memory_bytes or 0.0) / GB
    fitting = [n for n, sizes in _BY_MEMORY.items() if any(abs(memory - s) < 0.5 for s in sizes)]
    by_kernel = {"sm90": "H100", "ampere": "A100", "sm80": "A100", "volta": "V100"}
    for mark, name in by_kernel.items():
        rows = [row.name for row in trace.kernels if mark in row.name]
        if rows and (not fitting or name in fitting):
            return Guess[str](
                value=name,
                evidence=(f"The kernel {rows[0][:60]} is built for this generation.",),
                confidence="medium" if fitting else "low",
            )
    return None


def _layout(trace: Trace) -> Guess[str] | None:
    gpus = trace.gpus or 0
    if gpus <= 1:
        return None
    degrees: dict[str, int] = {}
    evidence: list[str] = []
    for row in trace.collectives:
        for name, pattern in _GROUPS:
            named = re.search(rf"(?:^|[_\W])(?:{pattern})(?:$|[_\W])", row.group, re.IGNORECASE)
            if named and row.size > 1 and name not in degrees:
                degrees[name] = row.size
                evidence.append(f"A group “{row.group}” has {row.size} processes.")
    others = 1
    for size in degrees.values():
        others *= size
    names = [row.name for row in trace.kernels if row.is_comm]
    kinds = {
        "sharded data parallelism": _SHARDED,
        "experts": _EXPERTS,
        "pipeline or all-to-all": _PIPELINE,
        "data parallelism": _REDUCE,
    }
    seen = [kind for kind, shape in kinds.items() if any(shape.search(name) for name in names)]
    if not (seen or degrees) or gpus % others:
        return None
    parts = [*(f"{name}={size}" for name, size in degrees.items()), f"dp={gpus // others}"]
    if "sharded data parallelism" in seen and not degrees:
        parts.append("zero=3")
    if seen:
        evidence.append(f"Communication kernels look like {', '.join(seen)} on {gpus} GPUs.")
    sure: Confidence = "medium" if degrees or seen == ["data parallelism"] else "low"
    return Guess[str](value=";".join(parts), evidence=tuple(evidence), confidence=sure)


def _global_batch(
    trace: Trace, micro: Guess[float] | None, layout: Guess[str] | None
) -> Guess[float] | None:
    each = trace.micro_batch or (micro.value if micro else None)
    if not each:
        return None
    text = trace.layout or (layout.value if layout else "")
    found = re.search(r"dp=(\d+)", text)
    replicas = int(found[1]) if found else (1 if trace.gpus == 1 else None)
    if replicas is None:
        return None
    known = micro.evidence if micro else ("The micro-batch is in the file.",)
    return Guess[float](
        value=each * replicas,
        evidence=(*known, f"{replicas} replicas, if gradients are not accumulated."),
        confidence="medium" if replicas == 1 else "low",
    )


def _shown(row: OperatorRow) -> str:
    return "×".join(str(size) for size in row.shapes[0])
