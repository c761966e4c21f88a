"""What the text logs of many programs have in common: config dumps, rank counts, nvidia-smi."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from advisor.core.units import MIB
from advisor.traces.jsons import above_zero
from advisor.traces.scrub import base_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces.draft import Draft

# Launchers put the rank before the line: "0: …", "[rank0]:…", "[default3]:…", "[1,0]<stdout>:…".
_LAUNCHER: Final = re.compile(r"^(?:\[[\w .-]+\]:?|\[\d+,\d+\]<std(?:out|err)>:|\d+:) ?")
_DUMP: Final = re.compile(r"^\s*(\w+)\s?\.{2,}\s(\S+)\s*$")
_DEEPSPEED_DUMP: Final = re.compile(
    r"\[config\.py:\d+:print\w*\]\s+(train_batch_size|train_micro_batch_size_per_gpu"
    r"|gradient_accumulation_steps|zero_optimization_stage|zero_enabled|fp16_enabled"
    r"|bfloat16_enabled)\s*\.*\s*(\S+)"
)
_WORLD: Final = re.compile(r"using world size: (\d{1,15})")
_DEGREE: Final = re.compile(
    r"(data|tensor-model|pipeline-model|context|model|expert-model)[- ]parallel[- ]size: (\d{1,15})"
)
_SMI_NAME: Final = re.compile(r"^\|\s+(\d{1,15})\s+(\S.{3,40}?)(?:\.\.\.)?\s+(?:On|Off)\s*\|")
_SMI_MEMORY: Final = re.compile(r"\|\s*\d+MiB /\s*(\d{1,15})MiB\s*\|")
_MODEL: Final = re.compile(
    r"(?:model_name_or_path|--model_name_or_path|--actor_model_name_or_path|--model)[\s'\"=:]+"
    r"([\w./\\~-]+)"
)


@dataclass
class LogFacts:
    """Facts gathered line by line.

    Attributes
    ----------
    dump : dict of str to str
        The program's own list of arguments, as Megatron prints it.
    deepspeed : dict of str to str
        The list that DeepSpeed prints; its world size is that of data parallelism.
    """

    dump: dict[str, str] = field(default_factory=dict)
    deepspeed: dict[str, str] = field(default_factory=dict)
    degrees: dict[str, int] = field(default_factory=dict)
    world_size: int | None = None
    gpu_name: str | None = None
    gpus_on_host: int | None = None
    gpu_memory_bytes: float | None = None
    model: str | None = None

    def feed(self, line: str) -> None:
        """Take the facts out of a line."""
        if ".." in line:
            if found := _DUMP.match(unprefixed(line)):
                self.dump.setdefault(found[1], found[2])
                return
            if found := _DEEPSPEED_DUMP.search(line):
                self.deepspeed.setdefault(found[1], found[2].strip("."))
                return
        if found := _DEEPSPEED_DUMP.search(line) if "config.py" in line else None:
            self.deepspeed.setdefault(found[1], found[2])
        if "parallel" in line:
            self._feed_degrees(line)
        if line.startswith("|"):
            self._feed_smi(line)
        if self.model is None and "model" in line and (found := _MODEL.search(line)):
            self.model = base_name(found[1]) or None

    def _feed_degrees(self, line: str) -> None:
        if found := _WORLD.search(line):
            self.world_size = self.world_size or int(found[1])
            for name, degree in _DEGREE.findall(line):
                self.degrees.setdefault(name, int(degree))

    def _feed_smi(self, line: str) -> None:
        if found := _SMI_NAME.match(line):
            self.gpu_name = self.gpu_name or found[2].strip()
            self.gpus_on_host = max(self.gpus_on_host or 0, int(found[1]) + 1)
        elif found := _SMI_MEMORY.search(line):
            self.gpu_memory_bytes = self.gpu_memory_bytes or float(found[1]) * MIB

    def whole(self, *names: str) -> int | None:
        """Return the first of these arguments that is a number above 0."""
        values = (above_zero(self.dump.get(name)) for name in names)
        return next((int(value) for value in values if value is not None), None)

    def describe(self, draft: Draft) -> None:
        """Fill what the reader itself has not set."""
        gpus = self.whole("world_size") or self.world_size
        draft.gpus = draft.gpus if draft.gpus is not None else gpus
        draft.gpu_name = draft.gpu_name or self.gpu_name
        draft.gpus_on_host = draft.gpus_on_host or self.gpus_on_host
        draft.gpu_memory_bytes = draft.gpu_memory_bytes or self.gpu_memory_bytes
        draft.sequence_length = draft.sequence_length or self.whole("seq_length", "max_seq_len")
        draft.micro_batch = (
            draft.micro_batch
            or self.whole("micro_batch_size")
            or above_zero(self.deepspeed.get("train_micro_batch_size_per_gpu"))
        )
        draft.precision = draft.precision or self._precision()
        draft.model = draft.model or self.model or self._shape()
        draft.layout = draft.layout or self._layout(draft.gpus)

    def _precision(self) -> str | None:
        for name in ("bf16", "fp16", "fp8"):
            if self.dump.get(name) == "True":
                return name
        if self.deepspeed.get("bfloat16_enabled") == "True":
            return "bf16"
        return "fp16" if self.deepspeed.get("fp16_enabled") == "True" else None

    def _shape(self) -> str | None:
        layers, hidden = self.whole("num_layers", "encoder_num_layers"), self.whole("hidden_size")
        return f"transformer, {layers} layers, hidden {hidden}" if layers and hidden else None

    def _layout(self, gpus: int | None) -> str:
        tensor = self.whole("tensor_model_parallel_size", "model_parallel_size")
        tensor = tensor or self.degrees.get("tensor-model") or self.degrees.get("model")
        pipeline = self.whole("pipeline_model_parallel_size") or self.degrees.get("pipeline-model")
        context = self.whole("context_parallel_size") or self.degrees.get("context")
        data = self.degrees.get("data")
        if data is None and gpus and tensor:
            data = gpus // (tensor * (pipeline or 1) * (context or 1)) or None
        stage = self.deepspeed.get("zero_optimization_stage", "")
        degrees = {"tp": tensor, "pp": pipeline, "cp": context, "dp": data}
        parts = [f"{name}={degree}" for name, degree in degrees.items() if degree]
        return ";".join([*parts, *([f"zero={stage}"] if stage in {"1", "2", "3"} else [])])


def unprefixed(line: str) -> str:
    """Return a line without the rank that a launcher put before it.

    >>> unprefixed("[default3]:step 1"), unprefixed("12: step 1"), unprefixed("[1,0]<stdout>:step")
    ('step 1', 'step 1', 'step')
    """
    return _LAUNCHER.sub("", line)


def median(values: Sequence[float]) -> float | None:
    """Return the median, None of nothing."""
    return statistics.median(values) if values else None
