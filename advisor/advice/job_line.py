"""A job as a person writes it: one line of text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from advisor.advice.free_text import IS, SIZE, TIME, is_phrase, parts_of
from advisor.advice.job import AMOUNTS, Job
from advisor.core.errors import InvalidInputError
from advisor.core.units import parse_count
from advisor.zoo.lookup import find
from advisor.zoo.tables.datasets import IMAGENET


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
    said: dict[str, Any] = {}
    for part in parts[1:]:
        for piece, name, value in _readings(part):
            _add(said, name, value, piece)
    limits = {name: said.pop(name, None) for name in ("deadline_h", "budget_usd")}
    unit = next((name for name in AMOUNTS if name in said), None)
    if unit is not None:
        said |= {"unit": unit, "amount": said.pop(unit)}
    return StatedJob(Job(model=parts[0], **said), **limits)


def _readings(part: str) -> list[tuple[str, str, Any]]:
    """Return what a part says: (piece, field, value); free words are several pieces.

    Raises
    ------
    InvalidInputError
        If it is not understood; the whole part is quoted.
    """
    try:
        return [(part, *_reading(part))]
    except InvalidInputError:
        pieces = parts_of(part)
        if pieces in ([], [part]):
            raise
        try:
            return [(piece, *_reading(piece)) for piece in pieces]
        except InvalidInputError:
            pass
        raise


def _add(said: dict[str, Any], name: str, value: object, piece: str) -> None:
    """Add a field; one that was said otherwise before, or a second amount, is refused.

    Samples beside epochs are those of the data set.
    """
    if name == "epochs" and "samples" in said:
        _add(said, "dataset_samples", said.pop("samples"), piece)
    if name == "samples" and "epochs" in said:
        name = "dataset_samples"
    second = name in AMOUNTS and any(other in said for other in AMOUNTS if other != name)
    if second or said.get(name, value) != value:
        raise InvalidInputError(
            f"“{piece}” contradicts a part before it.", where="job", todo="Say each thing once."
        )
    said[name] = value


def _reading(part: str) -> tuple[str, Any]:
    """Return the field and the value of a part that is understood as a whole."""
    if found := _DEADLINE.match(part):
        hours = parse_count(found[1], "deadline") * _HOURS[found[2][0].lower()]
        return "deadline_h", hours
    if found := _BUDGET.match(part):
        return "budget_usd", parse_count(found[1], "budget")
    word = part.lower()
    if word in _TUNINGS:
        return "tuning", _TUNINGS[word]
    if word in _PRECISIONS:
        return "precision", word
    if word in _DATASETS:
        return "dataset_samples", float(_DATASETS[word].samples)
    return _number(part)


def _number(part: str) -> tuple[str, float]:
    for field, pattern in _WORDS.items():
        if found := pattern.match(part):
            value = parse_count(found[1], field)
            return field, value if field == "dataset_samples" else _whole(value, part)
    if found := _AMOUNT.match(part):
        unit = _UNITS.get(found[2].lower(), f"{found[2].lower()}s")
        return unit, parse_count(found[1], unit)
    raise InvalidInputError(
        f"“{part}” is not understood.",
        where="job",
        todo=(
            "Write it like: Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024 · "
            "finish within 36 h."
        ),
    )


def _whole(value: float, part: str) -> int:
    if not value.is_integer():
        raise InvalidInputError(
            f"“{part}” is not a whole number.", where="job", todo="Write it without a fraction."
        )
    return int(value)


def _split_config(text: str) -> tuple[str, str]:
    """Return the configuration at the head of the text, if there is one, and the rest."""
    if not text.startswith("{"):
        return "", text
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text, ""  # whoever reads the configuration says what is wrong with it
    return text[:end], text[end:]
