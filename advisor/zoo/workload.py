"""From an architecture and an amount of work to a `Workload`."""

from __future__ import annotations

import math
from typing import Final, NamedTuple, get_args

from advisor.core.errors import InvalidInputError
from advisor.core.units import number
from advisor.domain import Family, Model, Optimizer, Precision, Tuning, Workload
from advisor.zoo.base import Architecture
from advisor.zoo.checks import one_of, positive_number, positive_whole

MOST_TOKENS: Final = 1e17
MOST_SAMPLES: Final = 1e15
MOST_EPOCHS: Final = 1e6
MOST_STEPS: Final = 10**10
MOST_BATCH: Final = 10**8
MOST_LORA_RANK: Final = 1024
USUAL_RANK: Final = "A rank from 8 to 64 is usual."
TOKEN_FAMILIES: Final[tuple[Family, ...]] = ("language", "encoder", "moe")

TUNING_BATCH: Final[dict[Family, int]] = {"language": 128, "moe": 128, "encoder": 32}
"""Sequences per step when a trained model is tuned; other families keep their batch."""
TOKENS_PER_STEP: Final = ((1e9, 0.5e6), (50e9, 2e6), (math.inf, 4e6))
"""Parameters up to which so many tokens make a step of pre-training (rounded from GPT-3's
table 2.1, Brown et al. 2020, and from Llama 2, Touvron et al. 2023)."""
FAMILY_BATCH: Final[dict[Family, int]] = {
    "encoder": 256,  # BERT
    "vision": 1024,  # DeiT
    "cnn": 256,  # ResNet
    "diffusion": 256,  # DiT
    "recommender": 65536,  # MLPerf training
    "speech": 256,  # Whisper
    "other": 128,
}
SGD_FAMILIES: Final[tuple[Family, ...]] = ("cnn", "recommender")


class _Assumed(NamedTuple):
    """A value and, if it was not given, the phrase that says so."""

    value: float
    phrase: str = ""


def build_workload(
    architecture: Architecture,
    *,
    tokens: float | None = None,
    samples: float | None = None,
    epochs: float | None = None,
    steps: int | None = None,
    dataset_samples: float | None = None,
    sample_size: int | None = None,
    global_batch: int | None = None,
    precision: str = "bf16",
    tuning: str = "pretrain",
    lora_rank: int = 16,
    optimizer: str | None = None,
) -> Workload:
    """Return the training job of an architecture.

    Parameters
    ----------
    architecture : Architecture
        What is trained.
    tokens, samples, epochs, steps : number, optional
        How much; exactly one of them. Tokens are for language models.
    dataset_samples : number, optional
        Samples in one epoch, if `epochs` is given and the architecture has no usual data set.
    sample_size : int, optional
        Sequence length or image side; the architecture's own by default.
    global_batch : int, optional
        Samples per optimizer step; usual for the family by default.
    precision : str
        ``fp32``, ``tf32``, ``fp16``, ``bf16`` or ``fp8``.
    tuning : str
        ``pretrain``, ``full`` (all parameters of a trained model), ``lora`` or ``qlora``.
    lora_rank : int
        Rank of the adapters.
    optimizer : str, optional
        ``adamw``, ``sgd`` or ``adafactor``; usual for the family by default.

    Returns
    -------
    Workload
        With every value that was not given stated in its assumptions.

    Raises
    ------
    InvalidInputError
        If a value is impossible; the message names the option and what to do.

    Examples
    --------
    >>> from advisor.zoo import get
    >>> build_workload(get("resnet-50"), epochs=90, global_batch=256).steps
    450411
    """
    model = architecture.model(sample_size)
    chosen_tuning = one_of(tuning, "tuning", get_args(Tuning))
    amount = _only_one(tokens=tokens, samples=samples, epochs=epochs, steps=steps)
    batch = _batch(architecture, model, chosen_tuning, global_batch)
    total = _samples(architecture, model, amount, batch.value, dataset_samples)
    trainable = _trainable(architecture, model, chosen_tuning, lora_rank)
    chosen_optimizer = _optimizer(architecture, optimizer)
    phrases = (
        _size_phrase(architecture, sample_size),
        batch.phrase,
        total.phrase,
        trainable.phrase,
        "" if optimizer else f"optimizer {chosen_optimizer}",
    )
    return Workload.make(
        model=model,
        samples=total.value,
        global_batch=int(batch.value),
        precision=_precision(architecture, precision),
        optimizer=chosen_optimizer,
        tuning=chosen_tuning,
        trainable_params=trainable.value,
        assumptions=(*architecture.assumptions, *filter(None, phrases)),
    )


def _only_one(**amounts: float | None) -> tuple[str, float]:
    """Return the name and value of the only amount that is given."""
    given = [(kind, value) for kind, value in amounts.items() if value is not None]
    if len(given) != 1:
        found = " and ".join(kind for kind, _ in given) if given else "none"
        raise InvalidInputError(
            f"exactly one of {', '.join(amounts)} is needed; given: {found}.",
            where="amount of training",
            todo="Say how long to train in one of them.",
        )
    return given[0]


def _samples(
    architecture: Architecture,
    model: Model,
    amount: tuple[str, float],
    batch: float,
    dataset_samples: float | None,
) -> _Assumed:
    """Return the samples to process."""
    kind, value = amount
    if kind == "tokens":
        return _Assumed(_samples_of_tokens(architecture, model, value))
    if kind == "epochs":
        return _samples_of_epochs(architecture, value, dataset_samples)
    if kind == "steps":
        whole = positive_whole(value, "steps", MOST_STEPS, todo="Give optimizer steps.")
        return _Assumed(whole * batch)
    todo = f"Give {architecture.sample_unit}s, for example 1e6."
    return _Assumed(positive_number(value, "samples", MOST_SAMPLES, todo=todo))


def _samples_of_tokens(architecture: Architecture, model: Model, tokens: float) -> float:
    if architecture.family not in TOKEN_FAMILIES:
        raise InvalidInputError(
            f"{architecture.title} does not read tokens but {architecture.sample_unit}s.",
            where="tokens",
            todo="Give samples, epochs or steps instead.",
        )
    todo = "Ten billion tokens are 10e9."
    return positive_number(tokens, "tokens", MOST_TOKENS, todo=todo) / model.tokens_per_sample


def _samples_of_epochs(
    architecture: Architecture, epochs: float, dataset_samples: float | None
) -> _Assumed:
    passes = positive_number(epochs, "epochs", MOST_EPOCHS, todo="Give passes over the data set.")
    if dataset_samples is not None:
        todo = "Give the samples in the data set."
        samples = positive_number(dataset_samples, "dataset_samples", MOST_SAMPLES, todo=todo)
        total = "epochs × dataset_samples"
        return _Assumed(
            positive_number(passes * samples, total, MOST_SAMPLES, todo="Give fewer epochs.")
        )
    dataset = architecture.dataset
    if dataset is None:
        raise InvalidInputError(
            f"{architecture.title} has no usual data set, so an epoch has no length.",
            where="dataset_samples",
            todo="Give the number of samples in the data set.",
        )
    phrase = f"{dataset.name} with {dataset.samples:,} {architecture.sample_unit}s per epoch"
    return _Assumed(passes * dataset.samples, phrase)


def _batch(architecture: Architecture, model: Model, tuning: Tuning, given: int | None) -> _Assumed:
    """Return the samples per optimizer step."""
    batch = architecture.usual_batch or family_batch(model, tuning)
    if given is not None:
        todo = f"Usual are {batch:,} {architecture.sample_unit}s per step."
        return _Assumed(positive_whole(given, "global_batch", MOST_BATCH, todo=todo))
    return _Assumed(batch, f"global batch {batch:,} {architecture.sample_unit}s")


def family_batch(model: Model, tuning: Tuning) -> int:
    """Return the usual samples per optimizer step of a family.

    Pre-training of decoders takes a power of two near a usual number of tokens.
    """
    if tuning != "pretrain" and model.family in TUNING_BATCH:
        return TUNING_BATCH[model.family]
    if model.family in FAMILY_BATCH:
        return FAMILY_BATCH[model.family]
    tokens = next(tokens for most, tokens in TOKENS_PER_STEP if model.params <= most)
    return 1 << max(0, round(math.log2(tokens / model.tokens_per_sample)))


def _trainable(
    architecture: Architecture, model: Model, tuning: Tuning, lora_rank: int
) -> _Assumed:
    """Return the parameters that are trained: all, or those of low-rank adapters."""
    if tuning in ("pretrain", "full"):
        return _Assumed(model.params)
    rank = positive_whole(lora_rank, "lora_rank", MOST_LORA_RANK, todo=USUAL_RANK)
    if not architecture.adapter_dimensions:
        raise InvalidInputError(
            f"{architecture.title} has no attention or feed-forward linear layers to adapt.",
            where="tuning",
            todo="Choose pretrain or full.",
        )
    if model.hidden and rank > model.hidden:
        raise InvalidInputError(
            f"a rank of {rank} is above the width of {architecture.title}, {model.hidden}.",
            where="lora_rank",
            todo=USUAL_RANK,
        )
    adapters = rank * architecture.adapter_dimensions
    phrase = (
        f"adapters of rank {rank} on all attention and feed-forward layers: "
        f"{number(adapters / 1e6)} M trained parameters"
    )
    return _Assumed(adapters, phrase)


def _optimizer(architecture: Architecture, given: str | None) -> Optimizer:
    if given is not None:
        return one_of(given, "optimizer", get_args(Optimizer))
    return "sgd" if architecture.family in SGD_FAMILIES else "adamw"


def _precision(architecture: Architecture, given: str) -> Precision:
    precision: Precision = one_of(given, "precision", get_args(Precision))
    if precision == "fp8" and not architecture.adapter_dimensions:
        raise InvalidInputError(
            f"fp8 covers the linear layers of transformers; {architecture.title} has none.",
            where="precision",
            todo="Choose bf16 or fp16.",
        )
    return precision


def _size_phrase(architecture: Architecture, given: int | None) -> str:
    if given is not None or architecture.default_sample_size == 1:
        return ""
    return f"{architecture.size_word} {architecture.default_sample_size:,}"
