"""Result logs of MLPerf Training: ``:::MLL`` up to v0.6, ``:::MLLOG`` from v0.7."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.core.errors import TraceError
from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero, number
from advisor.traces.reader import READERS

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace

_SNIFF: Final = re.compile(rb":::MLL(?:OG)? ?[\d{]")
_OLD: Final = re.compile(r":::MLL ([\d.]+) (\w+): (\{.*\})$")
_RANK: Final = re.compile(r"^(\d{1,5}): ")
_WORLD: Final = re.compile(r"\bn_gpu: (\d{1,15}), distributed training: True")
_ON_HOST: Final = re.compile(r"\bnum_gpus ?= ?(\d{1,15})")
_UNITS: Final = {
    **dict.fromkeys(("resnet", "ssd", "retinanet", "maskrcnn", "mask_rcnn", "unet3d"), "images/s"),
    **dict.fromkeys(("stable_diffusion", "single_stage_detector"), "images/s"),
    **dict.fromkeys(("bert", "llama2_70b_lora", "llama31_8b", "llama31_405b"), "sequences/s"),
    "gpt3": "tokens/s",
    "rnnt": "utterances/s",
    "dlrm": "samples/s",
    "dlrm_dcnv2": "samples/s",
}
# In these train_samples counts what the run consumed; in the others it is the size of the data.
_CONSUMED: Final = frozenset({"bert", "gpt3", "llama2_70b_lora", "llama31_8b", "llama31_405b"})
_PLATFORM_GPUS: Final = (
    (re.compile(r"\b(?:ND96|ND40|p3dn|p4de?|p5e?n?)", re.IGNORECASE), 8),
    (re.compile(r"\bDGX-?2H?\b", re.IGNORECASE), 16),
    (re.compile(r"\bDGX[- ]?(?:1|A100|H100|H200|B200)\b", re.IGNORECASE), 8),
)
_GPU: Final = r"(?:NVIDIA |AMD )?(?:[VAHB]\d{2,3}|[LT]4|L40S?|MI\d{3}X?)"
# “8xA100”, “R750xax4A100”, “gpu-v100-8”, “a2-highgpu-8g”.
_COUNTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(\d{{1,4}})x ?{_GPU}",
        rf"x(\d{{1,2}})x?{_GPU}",
        rf"\b{_GPU}[-_ ]?x?(\d{{1,4}})$",
        r"gpu-(\d{1,2})g\b",
    )
)
_NODES: Final = re.compile(r"^(\d{1,15})x")
_DEVICE: Final = re.compile(r"\b([VAHB]\d{2,3}|[LT]4|L40S?|MI\d{3}X?)\b", re.IGNORECASE)


@dataclass
class _Found:
    values: dict[str, Any] = field(default_factory=dict)
    throughputs: list[float] = field(default_factory=list)
    steps_s: list[float] = field(default_factory=list)
    epoch_starts: dict[float, float] = field(default_factory=dict)
    epochs_s: list[float] = field(default_factory=list)
    last_epoch: float = 0.0
    last_block: float = 0.0
    run_start_s: float | None = None
    run_stop_s: float | None = None
    status: str = ""
    ranks: set[int] = field(default_factory=set)
    world: int | None = None
    on_host: int | None = None

    def feed(self, line: str) -> None:
        if rank := _RANK.match(line):
            self.ranks.add(int(rank[1]))
        at = line.find(":::MLL")
        if at < 0:
            if world := _WORLD.search(line):
                self.world = int(world[1])
            elif host := _ON_HOST.search(line):
                self.on_host = int(host[1])
            return
        event = _event(line[at:].rstrip())
        if event is not None:
            self._take(*event)

    def _take(self, time_s: float, key: str, value: Any, meta: dict[str, Any]) -> None:
        if key == "run_start":
            self.run_start_s = self.run_start_s or time_s
        elif key == "run_stop":
            self.run_stop_s, self.status = time_s, str(meta.get("status", ""))
        elif key == "tracked_stats":
            stats = value if isinstance(value, dict) else {}
            if (rate := above_zero(stats.get("throughput"))) is not None:
                self.throughputs.append(rate)
            if (step_s := above_zero(stats.get("train_step_time"))) is not None:
                self.steps_s.append(step_s)
        elif key in {"epoch_start", "epoch_stop"}:
            self._take_epoch(key, time_s, number(meta.get("epoch_num")) or 0.0)
        elif key == "block_start":
            first, count = (number(meta.get(n)) for n in ("first_epoch_num", "epoch_count"))
            self.last_block = max(self.last_block, (first or 0.0) + (count or 1.0) - 1)
        elif value is not None:
            self.values.setdefault(key, value)

    def _take_epoch(self, key: str, time_s: float, epoch: float) -> None:
        if key == "epoch_start":
            self.epoch_starts[epoch] = time_s
            return
        if epoch in self.epoch_starts:
            self.epochs_s.append(time_s - self.epoch_starts[epoch])
        self.last_epoch = max(self.last_epoch, epoch)

    @property
    def epochs(self) -> float:
        """Epochs run: a run may stop within one, and then says so by a fraction."""
        return self.last_epoch or self.last_block or float(len(self.epochs_s) or 1)


@READERS.register("mlperf_log")
class MlperfReader:
    """Throughput as logged, or from samples and run time; step time from the batch."""

    label: ClassVar[str] = "MLPerf Training log"
    anywhere: ClassVar[bool] = True
    order: ClassVar[int] = 5

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See a line of the compliance log."""
        return _SNIFF.search(head) is not None

    @staticmethod
    def read(source: Source) -> Trace:
        """Read one result file."""
        found = _Found()
        for line in source.lines():
            found.feed(line)
        if not found.values:
            raise TraceError(
                "no line of the compliance log is complete.",
                where=source.name,
                todo="Upload the whole result file.",
            )
        draft = Draft(format="mlperf_log")
        benchmark = str(found.values.get("submission_benchmark", ""))
        draft.model = benchmark or None
        _set_batch(draft, found, benchmark)
        _set_throughput(draft, found, benchmark)
        _set_machine(draft, found)
        if found.status not in {"", "success"}:
            draft.warn(
                f"The run ended as “{found.status}”: its speed counts, its time to accuracy "
                "does not."
            )
        return draft.finish()


def _event(text: str) -> tuple[float, str, Any, dict[str, Any]] | None:
    """Return time [s], key, value and metadata of a line."""
    try:
        if old := _OLD.match(text):
            fields, time_s, key = json.loads(old[3]), float(old[1]), old[2]
        else:
            fields = json.loads(text[text.index("{") :])
            time_s, key = float(fields["time_ms"]) / 1e3, str(fields["key"])
        meta = fields.get("metadata")
        return time_s, key, fields.get("value"), meta if isinstance(meta, dict) else {}
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None  # cut by the output of another process


def _set_batch(draft: Draft, found: _Found, benchmark: str) -> None:
    draft.global_batch = above_zero(found.values.get("global_batch_size"))
    length = above_zero(found.values.get("max_sequence_length"))
    draft.sequence_length = int(length) if length else None
    if benchmark in {"transformer", "gnmt"} and draft.global_batch:
        draft.warn("The global batch of this benchmark counts tokens, not sentences.")


def _set_throughput(draft: Draft, found: _Found, benchmark: str) -> None:
    unit = _UNITS.get(benchmark, "samples/s")
    if found.throughputs and benchmark == "gpt3":
        unit = "sequences/s"  # the number of samples counts tokens, the logged rate does not
    samples = above_zero(found.values.get("train_samples"))
    if found.throughputs:
        draft.throughput = statistics.median(found.throughputs)
    elif samples is not None and not benchmark:
        draft.warn(
            "The name of the benchmark is not in this part of the log, and what its number of "
            "samples counts depends on it: throughput not available."
        )
    elif samples is not None:
        draft.throughput = _of_samples(draft, found, samples, consumed=benchmark in _CONSUMED)
    else:
        draft.warn("Neither throughput nor the number of samples is logged: not available.")
    if draft.throughput is None:
        return
    draft.throughput_unit = unit
    if found.steps_s:
        draft.step_time_s, draft.steps = statistics.median(found.steps_s), len(found.steps_s)
    elif draft.global_batch:
        per_step = draft.global_batch
        if unit == "tokens/s":
            per_step *= draft.sequence_length or 0
        draft.step_time_s = per_step / draft.throughput or None
        total = (samples or 0.0) * (1.0 if benchmark in _CONSUMED else found.epochs)
        draft.steps = round(total / per_step) if per_step and total else None


def _of_samples(draft: Draft, found: _Found, samples: float, *, consumed: bool) -> float | None:
    epochs = [time_s for time_s in found.epochs_s if time_s > 0]
    if not consumed and len(epochs) > 1:
        draft.warn("Throughput follows from the median epoch.")
        return above_zero(samples / statistics.median(epochs))
    if found.run_start_s is None or found.run_stop_s is None:
        draft.warn("The run has no end in this log, so throughput is not available.")
        return None
    run_s = found.run_stop_s - found.run_start_s
    if run_s <= 0:
        return None
    draft.warn("Throughput follows from the whole run, which includes evaluations.")
    return above_zero(samples * (1.0 if consumed else found.epochs) / run_s)


def _set_machine(draft: Draft, found: _Found) -> None:
    platform = str(found.values.get("submission_platform", ""))
    draft.gpus_on_host = found.on_host
    if "PLACEHOLDER" not in platform and platform:
        nodes = _NODES.match(platform)
        draft.nodes = int(nodes[1]) if nodes else 1
        draft.gpus = _gpus_of(platform, draft.nodes)
        device = _DEVICE.search(platform)
        draft.gpu_name = device[1].upper() if device else None
        draft.instance_type = platform
    processes = len(found.ranks) if found.ranks == set(range(len(found.ranks))) else 0
    draft.gpus = draft.gpus or found.world or (processes if processes > 1 else None)
    if draft.gpus is None:
        draft.warn("How many GPUs the job used is in the system description, not in this log.")


def _gpus_of(platform: str, nodes: int) -> int | None:
    rest = _NODES.sub("", platform)
    for pattern, each in _PLATFORM_GPUS:
        if pattern.search(rest):
            return nodes * each
    for pattern in _COUNTS:
        if found := pattern.search(rest):
            return nodes * int(found[1])
    return None
