"""The job and the picks as arguments of the Python API give them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, get_args

from advisor.advice.given_values import Amount, Names, count_of, names_of, whole_of
from advisor.advice.job import Job
from advisor.advice.picks import PICKS
from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Finetune = Literal["full", "lora", "qlora"]


def job_of(
    model: str | Path,
    amounts: Mapping[str, Amount | None],
    *,
    dataset_samples: Amount | None,
    sizes: Mapping[str, Amount | None],
    global_batch: Amount | None,
    precision: str,
    finetune: str | None,
    lora_rank: int,
) -> Job:
    """Return the job that the arguments of `advise` and `predict` give.

    Raises
    ------
    InvalidInputError
        If a value cannot be used, or not exactly one amount of training is given.
    """
    unit, amount = _only("amount of training", amounts)
    _, size = _only("size of a sample", sizes) if set(sizes.values()) != {None} else ("", None)
    if finetune not in (None, *get_args(Finetune)):
        raise InvalidInputError(
            f"“{finetune}” is no way to tune.", where="finetune", todo="Give full, lora or qlora."
        )
    return Job(
        model=os.fspath(model),
        amount=count_of(unit, amount),
        unit=unit,
        dataset_samples=count_of("dataset_samples", dataset_samples),
        sample_size=whole_of("size of a sample", size),
        global_batch=whole_of("global_batch", global_batch),
        precision=precision,
        tuning=finetune or "pretrain",
        lora_rank=lora_rank,
    )


def picks_of(given: Names) -> tuple[str, ...]:
    """Return the picks to explain; an unknown one is refused.

    Raises
    ------
    InvalidInputError
        If a name is no pick.
    """
    names = tuple(names_of("explain", given))
    for name in names:
        if name not in PICKS:
            raise InvalidInputError(
                f"“{name}” is no pick.", where="explain", todo=f"Give {' or '.join(PICKS)}."
            )
    return names


def _only(what: str, given: Mapping[str, Amount | None]) -> tuple[str, Amount]:
    """Return the only value that is given, and its name."""
    said = [(name, value) for name, value in given.items() if value is not None]
    if len(said) != 1:
        found = " and ".join(name for name, _ in said) or "none"
        raise InvalidInputError(
            f"exactly one of {', '.join(given)} is needed; given: {found}.", where=what
        )
    return said[0]
