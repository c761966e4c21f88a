"""A job as a person states it: a line of text, options of a command, parameters of a link."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from advisor import zoo
from advisor.core.errors import InvalidInputError
from advisor.core.units import count, parse_count
from advisor.domain import Workload

AMOUNTS: Final = ("tokens", "epochs", "steps", "samples")
_WORDS: Final = {
    "sample_size": re.compile(
        r"^(?:sequence|seq(?:uence)?[ -]?len(?:gth)?|resolution|image)\s+(.+)$"
    ),
    "global_batch": re.compile(r"^(?:global )?batch(?: size)?\s+(.+)$"),
    "dataset_samples": re.compile(r"^(?:data ?set(?: of)?)\s+(.+?)(?: samples)?$"),
}
_AMOUNT: Final = re.compile(r"^(.+?)\s*(tokens?|epochs?|steps?|samples?)$")
_DEADLINE: Final = re.compile(r"^(?:finish )?within\s+([\d.,]+)\s*(h|hours?|d|days?)$")
_BUDGET: Final = re.compile(r"^(?:budget|at most|under)\s+\$?\s*([\d.,]+\s*[kKmM]?)(?:\s*usd)?$")
_TUNINGS: Final = {
    "lora": "lora", "qlora": "qlora", "full fine-tune": "full", "full fine-tuning": "full",
    "fine-tune": "full", "fine-tuning": "full", "finetune": "full", "pre-training": "pretrain",
    "pretraining": "pretrain", "pretrain": "pretrain",
}  # fmt: skip
_PRECISIONS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is trained and how much; numbers not given are chosen and stated by the zoo."""

    model: str
    amount: float | None = None
    unit: str = "tokens"
    dataset_samples: float | None = None
    sample_size: int | None = None
    global_batch: int | None = None
    precision: str = "bf16"
    tuning: str = "pretrain"
    lora_rank: int = 16

    def workload(self) -> Workload:
        """Return the workload.

        Raises
        ------
        InvalidInputError
            If the model is unknown or a number cannot be used; the message names the field.
        """
        architecture = zoo.resolve(self.model)
        if self.unit not in AMOUNTS:
            raise InvalidInputError(
                f"“{self.unit}” is not an amount of training.",
                where="amount of training",
                todo="Give tokens, epochs, steps or samples.",
            )
        given = {unit: self.amount if unit == self.unit else None for unit in AMOUNTS}
        steps = given["steps"]
        return zoo.build_workload(
            architecture,
            tokens=given["tokens"],
            samples=given["samples"],
            epochs=given["epochs"],
            steps=None if steps is None else int(steps),
            dataset_samples=self.dataset_samples,
            sample_size=self.sample_size,
            global_batch=self.global_batch,
            precision=self.precision,
            tuning=self.tuning,
            lora_rank=self.lora_rank,
        )

    def line(self) -> str:
        """Return the job as one line that `parse_job` reads back."""
        parts = [self.model]
        if self.tuning != "pretrain":
            parts.append({"full": "full fine-tune"}.get(self.tuning, self.tuning))
        if self.amount is not None:
            parts.append(f"{_plain(self.amount)} {self.unit}")
        if self.dataset_samples is not None:
            parts.append(f"dataset {_plain(self.dataset_samples)} samples")
        if self.sample_size is not None:
            text = "sequence" if self.unit == "tokens" or self.sample_size > 1024 else "resolution"
            parts.append(f"{text} {self.sample_size:,}")
        if self.global_batch is not None:
            parts.append(f"batch {self.global_batch:,}")
        if self.precision != "bf16":
            parts.append(self.precision)
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class StatedJob:
    """A job and the limits that were stated in the same line."""

    job: Job
    deadline_h: float | None = None
    budget_usd: float | None = None


def parse_job(text: str) -> StatedJob:
    """Read ``Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024 · finish within 36 h``.

    Parts are separated by ``·``, ``;`` or a comma and a space; their order does not matter
    after the model. A deadline and a budget may stand among them.

    Raises
    ------
    InvalidInputError
        If a part cannot be understood; the message quotes it.
    """
    stripped = text.strip()
    if stripped.startswith("{"):
        return StatedJob(Job(model=stripped))
    parts = [part.strip() for part in re.split(r"\s*[·;]\s*|,\s+", stripped) if part.strip()]
    if not parts:
        raise InvalidInputError(
            "the job is empty.",
            where="job",
            todo="Name a model and an amount: Llama-2-7B, 10 B tokens.",
        )
    stated = StatedJob(Job(model=parts[0]))
    for part in parts[1:]:
        stated = _with_part(stated, part)
    return stated


def _with_part(stated: StatedJob, part: str) -> StatedJob:
    lowered = part.lower()
    job = stated.job
    if lowered in _TUNINGS:
        return replace(stated, job=replace(job, tuning=_TUNINGS[lowered]))
    if lowered in _PRECISIONS:
        return replace(stated, job=replace(job, precision=lowered))
    if found := _DEADLINE.match(lowered):
        hours = parse_count(found[1], "deadline") * (24 if found[2].startswith("d") else 1)
        return replace(stated, deadline_h=hours)
    if found := _BUDGET.match(lowered):
        return replace(stated, budget_usd=parse_count(found[1], "budget"))
    for field, pattern in _WORDS.items():
        if found := pattern.match(lowered):
            value = parse_count(found[1], field)
            whole = value if field == "dataset_samples" else int(value)
            return replace(stated, job=replace(job, **{field: whole}))  # type: ignore[arg-type]
    if found := _AMOUNT.match(lowered):
        unit = found[2] if found[2].endswith("s") else f"{found[2]}s"
        amount = parse_count(found[1], unit)
        return replace(stated, job=replace(job, amount=amount, unit=unit))
    raise InvalidInputError(
        f"“{part}” is not understood.",
        where="job",
        todo=(
            "Write it like: Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024 · "
            "finish within 36 h."
        ),
    )


def _plain(value: float) -> str:
    """Write a count so that reading it back gives the same number."""
    short = count(value)
    return short if parse_count(short, "count") == value else f"{value:,.0f}"
