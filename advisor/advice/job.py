"""A job: what is trained and how much; as options, parameters of a link, or one line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from advisor import zoo
from advisor.advice.free_text import ADAPTED
from advisor.core.errors import InvalidInputError
from advisor.core.units import count, parse_count
from advisor.domain import Workload
from advisor.zoo.lookup import find

AMOUNTS: Final = ("tokens", "epochs", "steps", "samples")
DEFAULT_RANK: Final = 16


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
        """Return the job as one line that `advisor.advice.job_line.parse_job` reads back."""
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


def _size_word(model: str) -> str:
    architecture = find(model)
    images = architecture is not None and architecture.size_word == "image side"
    return "resolution" if images else "sequence"


def _plain(value: float) -> str:
    """Write a count so that reading it back gives the same number."""
    exact = f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    short = count(value)
    return short if parse_count(short, "count") == value else exact
