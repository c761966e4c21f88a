"""From an architecture and an amount of work to a workload."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError
from advisor.domain import Workload
from advisor.zoo import build_workload, from_size, get, names, resolve


def test_tokens_become_samples_and_steps() -> None:
    job = build_workload(resolve("Llama-2-7B"), tokens=10e9, sample_size=4096, global_batch=1024)
    assert job.samples == pytest.approx(10e9 / 4096)
    assert job.steps == 2385
    assert job.tokens == pytest.approx(10e9)
    assert job.trainable_params == job.model.params


def test_epochs_of_imagenet_are_assumed_and_said() -> None:
    job = build_workload(get("resnet-50"), epochs=90)
    assert job.samples == 90 * 1_281_167
    assert job.optimizer == "sgd"
    assert job.assumptions == (
        "image side 224",
        "global batch 256 images",
        "ImageNet-1k with 1,281,167 images per epoch",
        "optimizer sgd",
    )


def test_epochs_of_an_own_data_set() -> None:
    job = build_workload(get("bert-large"), epochs=2.5, dataset_samples=100_000, global_batch=32)
    assert job.samples == 250_000
    assert job.steps == 7813


def test_steps_and_samples() -> None:
    assert build_workload(get("gpt2"), steps=100, global_batch=8).samples == 800
    assert build_workload(get("dlrm"), samples=4e9).samples == 4e9


def test_given_values_are_not_called_assumptions() -> None:
    job = build_workload(
        get("llama-2-7b"), tokens=1e9, sample_size=2048, global_batch=64, optimizer="adafactor"
    )
    assert job.assumptions == ()
    assert job.optimizer == "adafactor"


def test_assumptions_of_the_architecture_are_handed_on() -> None:
    job = build_workload(from_size("7B"), tokens=1e9)
    assert job.assumptions[0].startswith("a Llama-shaped decoder with 32 layers")
    assert "sequence length 4,096" in job.assumptions
    assert "global batch 512 sequences" in job.assumptions
    assert "optimizer adamw" in job.assumptions


@pytest.mark.parametrize(
    ("name", "tuning", "batch"),
    [
        ("gpt-2-small", "pretrain", 512),  # 0.5 M tokens
        ("llama-2-7b", "pretrain", 512),  # 2 M tokens
        ("gpt-3-175b", "pretrain", 2048),  # 4 M tokens
        ("llama-2-7b", "full", 128),
        ("llama-2-70b", "qlora", 128),
        ("bert-base", "pretrain", 256),
        ("bert-base", "full", 32),
        ("resnet-50", "full", 256),
        ("cm-dare-resnet-32", "pretrain", 128),
        ("dlrm", "pretrain", 65536),
    ],
)
def test_usual_batches(name: str, tuning: str, batch: int) -> None:
    assert build_workload(get(name), steps=1, tuning=tuning).global_batch == batch


@pytest.mark.parametrize(
    ("name", "published_millions", "rank"),
    [
        ("llama-2-7b", 39.98, 16),  # printed by peft for all linear layers at rank 16
        ("mistral-7b", 41.94, 16),
    ],
)
def test_adapters_have_rank_times_inputs_plus_outputs(
    name: str, published_millions: float, rank: int
) -> None:
    for tuning in ("lora", "qlora"):
        job = build_workload(get(name), tokens=1e8, tuning=tuning, lora_rank=rank)
        assert job.trainable_params == pytest.approx(published_millions * 1e6, rel=0.001)
        assert any("adapters of rank 16" in phrase for phrase in job.assumptions)


def test_adapters_grow_with_the_rank() -> None:
    small, large = (
        build_workload(get("dit-xl-2"), epochs=1, tuning="lora", lora_rank=rank).trainable_params
        for rank in (4, 32)
    )
    assert large == 8 * small


@pytest.mark.parametrize("name", names())
def test_every_architecture_makes_a_workload_without_further_options(name: str) -> None:
    job = build_workload(get(name), steps=10)
    assert job.steps == 10
    assert Workload.from_json(job.to_json()) == job


BAD_NUMBERS: tuple[Any, ...] = (0, -1, math.nan, math.inf, -math.inf, 1e40, "7", True, None)


@pytest.mark.parametrize("option", ["tokens", "samples", "epochs", "steps"])
@pytest.mark.parametrize("value", BAD_NUMBERS[:-1])
def test_amounts_are_checked(option: str, value: Any) -> None:
    architecture = get("llama-2-7b")
    with pytest.raises(InvalidInputError) as caught:
        build_workload(architecture, dataset_samples=10, **{option: value})
    assert caught.value.where == option
    assert caught.value.todo


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("sample_size", (*BAD_NUMBERS[:-1], 1.5)),
        ("global_batch", (*BAD_NUMBERS[:-1], 1.5)),
        ("lora_rank", (*BAD_NUMBERS, 1.5, 5000)),
        ("precision", ("fp64", "", None, 16, "BF16")),
        ("tuning", ("dora", "", None, 1)),
        ("optimizer", ("lion", "", 1)),
    ],
)
def test_options_are_checked(option: str, values: tuple[Any, ...]) -> None:
    for value in values:
        options = {"tuning": "lora", option: value}
        with pytest.raises(InvalidInputError) as caught:
            build_workload(get("llama-2-7b"), tokens=1e9, **options)
        assert caught.value.where == ("sequence length" if option == "sample_size" else option)
        assert caught.value.todo


@pytest.mark.parametrize("value", BAD_NUMBERS[:-1])
def test_the_size_of_the_data_set_is_checked(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="dataset_samples"):
        build_workload(get("bert-base"), epochs=3, dataset_samples=value)


def test_epochs_times_samples_have_a_limit() -> None:
    with pytest.raises(InvalidInputError, match="epochs × dataset_samples"):
        build_workload(get("bert-base"), epochs=1e6, dataset_samples=1e15)


@pytest.mark.parametrize(
    "amount", [{}, {"tokens": 1e9, "steps": 10}, {"samples": 1, "epochs": 1, "steps": 1}]
)
def test_exactly_one_amount_is_needed(amount: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="exactly one of") as caught:
        build_workload(get("gpt2"), **amount)
    for given_amount in amount or ["none"]:
        assert given_amount in str(caught.value)


def test_learned_positions_limit_the_sequence() -> None:
    with pytest.raises(InvalidInputError, match=r"sequence length of at most 1,024, not 2,048"):
        build_workload(get("gpt2"), tokens=1e9, sample_size=2048)
    with pytest.raises(InvalidInputError, match="at most 512"):
        build_workload(get("bert-base"), steps=1, sample_size=513)
    with pytest.raises(InvalidInputError, match="at most 448"):
        build_workload(get("whisper-base"), steps=1, sample_size=449)
    assert build_workload(get("pythia-1b"), tokens=1e9, sample_size=8192).model


@pytest.mark.parametrize(
    ("name", "side", "nearest"),
    [("vit-b-16", 230, 224), ("dit-xl-2", 260, 256), ("stable-diffusion-1.5", 500, 512)],
)
def test_images_must_fit_the_patches(name: str, side: int, nearest: int) -> None:
    with pytest.raises(InvalidInputError, match=f"nearest is {nearest}"):
        build_workload(get(name), steps=1, sample_size=side)


def test_images_can_be_too_small_for_a_network() -> None:
    with pytest.raises(InvalidInputError, match="too small"):
        build_workload(get("vgg-16"), steps=1, sample_size=16)


def test_tokens_are_for_language_models() -> None:
    with pytest.raises(InvalidInputError, match="does not read tokens but images"):
        build_workload(get("resnet-50"), tokens=1e9)


def test_epochs_need_a_data_set() -> None:
    with pytest.raises(InvalidInputError, match="no usual data set") as caught:
        build_workload(get("llama-2-7b"), epochs=3)
    assert caught.value.where == "dataset_samples"


@pytest.mark.parametrize("tuning", ["lora", "qlora"])
@pytest.mark.parametrize("name", ["resnet-50", "convnext-tiny", "dlrm"])
def test_adapters_need_linear_layers(name: str, tuning: str) -> None:
    with pytest.raises(InvalidInputError, match="no attention or feed-forward"):
        build_workload(get(name), steps=1, tuning=tuning)


def test_eight_bit_floats_need_linear_layers() -> None:
    with pytest.raises(InvalidInputError, match="fp8"):
        build_workload(get("resnet-50"), epochs=1, precision="fp8")
    assert build_workload(get("llama-2-7b"), tokens=1e9, precision="fp8").precision == "fp8"


def test_a_rank_above_the_width_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="above the width"):
        build_workload(get("pythia-70m"), tokens=1e9, tuning="lora", lora_rank=513)


anything = st.none() | st.integers() | st.floats() | st.text(max_size=5) | st.booleans()
OPTIONAL = (
    "tokens",
    "sample_size",
    "global_batch",
    "precision",
    "tuning",
    "lora_rank",
    "optimizer",
    "dataset_samples",
)


@given(
    name=st.sampled_from(["llama-2-7b", "bert-base", "resnet-50", "dlrm", "sdxl", "t5-base"]),
    options=st.fixed_dictionaries(
        {"steps": st.integers(1, 100) | anything},
        optional=dict.fromkeys(OPTIONAL, anything),
    ),
)
@settings(max_examples=150, deadline=None)
def test_any_options_give_a_workload_or_a_clear_error(name: str, options: dict[str, Any]) -> None:
    try:
        job = build_workload(get(name), **options)
    except InvalidInputError as error:
        outcome = error.todo
    else:
        outcome = f"{job.steps} steps"
    assert outcome
