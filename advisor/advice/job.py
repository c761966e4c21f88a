"""A job as a person states it: a line of text, options of a command, parameters of a link."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from advisor import zoo
from advisor.advice.free_text import ADAPTED, IS, SIZE, TIME, is_phrase, parts_of
from advisor.core.errors import InvalidInputError
from advisor.core.units import count, parse_count
from advisor.domain import Workload
from advisor.zoo.lookup import find
from advisor.zoo.tables.datasets import IMAGENET

AMOUNTS: Final = ("tokens", "epochs", "steps", "samples")
DEFAULT_RANK: Final = 16


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(f"^{text}$", re.IGNORECASE)


_WORDS: Final = {
    "sample_size": _pattern(rf"{SIZE}{IS}(.+)"),
    "global_batch": _pattern(rf"(?:(?:global )?batch(?:\s*-?size)?|bs){IS}(.+)"),
    "dataset_samples": _pattern(rf"(?:data ?set){IS}(.+?)(?: samples)?"),
    "lora_rank": _pattern(rf"(?:lora )?rank{IS}(.+)"),
}
_SEPARATOR: Final = re.compile(r"\s*[·;]\s*|,\s+")
_AMOUNT: Final = _pattern(r"(.+?)\s*(token|epoch|step|iteration|sample|image|example)s?")
_UNITS: Final = {"iteration": "steps", "image": "samples", "example": "samples"}
_DEADLINE: Final = _pattern(
    rf"(?:(?:finish(?:ed)?|done) )?(?:within|in|under|deadline){IS}([\d.,]+)\s*({TIME})"
)
_HOURS: Final = {"m": 1 / 60, "h": 1.0, "d": 24.0, "w": 7 * 24.0}
_BUDGET: Final = _pattern(
    rf"(?:budget|at most|under|up to|max(?:imum)?|less than|below|for){IS}"
    r"(?:\$|usd)?\s*([\d.,]+\s*(?:k|m|thousand|million)?)(?:\s*(?:\$|usd|dollars?))?"
)
_DATASETS: Final = {"imagenet": IMAGENET, "imagenet-1k": IMAGENET}
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
    lora_rank: int = DEFAULT_RANK

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
        if self.lora_rank != DEFAULT_RANK and self.tuning not in ADAPTED:
            raise InvalidInputError(
                f"rank {self.lora_rank:,} is given, but the job trains no adapters.",
                where="rank",
                todo="Say lora or qlora, or leave the rank out.",
            )
        amounts: dict[str, Any] = {self.unit: self.amount}
        return zoo.build_workload(
            architecture,
            **amounts,
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
        if self.lora_rank != DEFAULT_RANK:
            parts.append(f"rank {self.lora_rank:,}")
        if self.amount is not None:
            parts.append(f"{_plain(self.amount)} {self.unit}")
        if self.dataset_samples is not None:
            parts.append(f"dataset {_plain(self.dataset_samples)} samples")
        if self.sample_size is not None:
            parts.append(f"{_size_word(self.model)} {self.sample_size:,}")
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
    after the model, which may be the content of a ``config.json``. A deadline and a budget may
    stand among them. Free words are taken apart: ``train GPT-2 on 300 B tokens in 3 days``.

    Raises
    ------
    InvalidInputError
        If a part cannot be understood, or says again what another part said; the message quotes
        it.
    """
    model, rest = _split_config(text.strip(" \t\r\n\xa0·;,"))
    rest = " ".join(rest.split())
    parts = [part.strip() for part in _SEPARATOR.split(rest) if part.strip()]
    parts = [model, *parts] if model else parts
    if not parts:
        raise InvalidInputError(
            "the job is empty.",
            where="job",
            todo="Name a model and an amount: Llama-2-7B, 10 B tokens.",
        )
    if not model and find(parts[0]) is None:
        words = parts_of(parts[0])
        if not words or is_phrase(words[0]):
            raise InvalidInputError(
                f"“{parts[0]}” names no model.",
                where="job",
                todo="Name a model and an amount: Llama-2-7B, 10 B tokens.",
            )
        parts = [*words, *parts[1:]]
    stated = StatedJob(Job(model=parts[0]))
    for part in parts[1:]:
        stated = _with_words(stated, part)
    return stated


def _with_words(stated: StatedJob, part: str) -> StatedJob:
    """Add a part, taken apart where it is not understood as a whole."""
    try:
        added = _with_part(stated, part)
    except InvalidInputError as error:
        pieces = parts_of(part)
        if pieces in ([], [part]):
            raise
        for piece in pieces:
            try:
                after = _with_part(stated, piece)
            except InvalidInputError:
                raise error from None  # it quotes the whole part
            _check_said_once(stated, after, piece)
            stated = after
        return stated
    _check_said_once(stated, added, part)
    return added


def _split_config(text: str) -> tuple[str, str]:
    """Return the configuration at the head of the text, if there is one, and the rest."""
    if not text.startswith("{"):
        return "", text
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text, ""  # whoever reads the configuration says what is wrong with it
    return text[:end], text[end:]


def _check_said_once(before: StatedJob, after: StatedJob, part: str) -> None:
    """Refuse a part that overrules another one."""
    olds, news = _stated(before), _stated(after)
    if any(news.get(name) != value for name, value in olds.items()):
        raise InvalidInputError(
            f"“{part}” contradicts a part before it.", where="job", todo="Say each thing once."
        )


def _stated(stated: StatedJob) -> dict[str, object]:
    """Return what was said so far: all that differs from its default."""
    return {
        field.name: value
        for noun in (stated, stated.job)
        for field in fields(noun)
        if field.name not in ("job", "unit")
        and (value := getattr(noun, field.name)) not in (None, field.default)
    }


def _whole(value: float, part: str) -> int:
    if not value.is_integer():
        raise InvalidInputError(
            f"“{part}” is not a whole number.", where="job", todo="Write it without a fraction."
        )
    return int(value)


def _size_word(model: str) -> str:
    architecture = find(model)
    images = architecture is not None and architecture.size_word == "image side"
    return "resolution" if images else "sequence"


def _with_part(stated: StatedJob, part: str) -> StatedJob:
    """Add a part that is understood as a whole: a limit, a word, or a property with its number."""
    job = stated.job
    if found := _DEADLINE.match(part):
        hours = parse_count(found[1], "deadline") * _HOURS[found[2][0].lower()]
        return replace(stated, deadline_h=hours)
    if found := _BUDGET.match(part):
        return replace(stated, budget_usd=parse_count(found[1], "budget"))
    word = part.lower()
    if word in _TUNINGS:
        return replace(stated, job=replace(job, tuning=_TUNINGS[word]))
    if word in _PRECISIONS:
        return replace(stated, job=replace(job, precision=word))
    if word in _DATASETS:
        return replace(stated, job=replace(job, dataset_samples=float(_DATASETS[word].samples)))
    return replace(stated, job=_with_number(job, part))


def _with_number(job: Job, part: str) -> Job:
    for field, pattern in _WORDS.items():
        if found := pattern.match(part):
            value = parse_count(found[1], field)
            given = value if field == "dataset_samples" else _whole(value, part)
            changes: dict[str, Any] = {field: given}
            return replace(job, **changes)
    if found := _AMOUNT.match(part):
        unit = _UNITS.get(found[2].lower(), f"{found[2].lower()}s")
        return _with_amount(job, parse_count(found[1], unit), unit)
    raise InvalidInputError(
        f"“{part}” is not understood.",
        where="job",
        todo=(
            "Write it like: Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024 · "
            "finish within 36 h."
        ),
    )


def _with_amount(job: Job, amount: float, unit: str) -> Job:
    """Add an amount; samples beside epochs are those of the data set."""
    if unit == "samples" and job.unit == "epochs" and job.amount is not None:
        return replace(job, dataset_samples=amount)
    return replace(job, amount=amount, unit=unit)


def _plain(value: float) -> str:
    """Write a count so that reading it back gives the same number."""
    exact = f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    short = count(value)
    return short if parse_count(short, "count") == value else exact
