"""Names and what people write instead of them."""

from __future__ import annotations

import pytest

import advisor.zoo
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.zoo import get, names
from advisor.zoo.lookup import fold

WRITTEN = {
    "meta-llama/Llama-2-7b-hf": "llama-2-7b",
    "LLAMA2-7B": "llama-2-7b",
    "meta-llama/Llama-2-70b-chat-hf": "llama-2-70b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama-3-8b",
    "LLAMA3.1_405B": "llama-3-405b",
    "mistralai/Mistral-7B-v0.1": "mistral-7b",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b",
    "Qwen3_235B_a22B": "qwen3-235b-a22b",
    "Qwen/Qwen2.5-7B-Instruct": "qwen2.5-7b",
    "DeepSeekV3": "deepseek-v3",
    "gpt3": "gpt-3-175b",
    "GPT-3 175B": "gpt-3-175b",
    "gpt2": "gpt-2-small",
    "openai-community/gpt2-xl": "gpt-2-xl",
    "bert-large-uncased": "bert-large",
    "google-bert/bert-base-uncased": "bert-base",
    "google-t5/t5-large": "t5-large",
    "resnet50": "resnet-50",
    "ResNet50 v1.5": "resnet-50",
    "vgg16_bn": "vgg-16-bn",
    "ViT-B/16": "vit-b-16",
    "google/vit-base-patch16-224": "vit-b-16",
    "DiT-XL/2": "dit-xl-2",
    "Stable Diffusion v2": "stable-diffusion-2",
    "stabilityai/stable-diffusion-xl-base-1.0": "sdxl",
    "wide_resnet50_2": "wide-resnet-50-2",
    "shake-shake-big": "cm-dare-shake-shake-big",
    "custom-resnet-7": "cm-dare-custom-7",
    "  opt 1.3b ": "opt-1.3b",
    "OPT-13B": "opt-13b",
}


@pytest.mark.parametrize(("written", "name"), WRITTEN.items())
def test_people_write_names_in_many_ways(written: str, name: str) -> None:
    assert get(written).name == name


@pytest.mark.parametrize("name", names())
def test_names_titles_and_aliases_lead_to_the_architecture(name: str) -> None:
    architecture = get(name)
    assert architecture.name == name
    assert name == name.lower()
    assert " " not in name
    for known in (architecture.title, name.upper(), *architecture.aliases):
        assert get(known) is architecture


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        get("llama-2-8b")
    assert "llama-2-7b" in caught.value.nearest
    assert "llama-2-7b" in str(caught.value)


def test_qualifiers_are_no_licence_to_guess() -> None:
    with pytest.raises(UnknownNameError):
        get("resnet-51")
    with pytest.raises(UnknownNameError):
        get("hf")
    with pytest.raises(UnknownNameError, match="bert-base"):
        get("bert-base-cased")  # another vocabulary


@pytest.mark.parametrize("nothing", ["", "   ", None, 7])
def test_no_name_is_an_error(nothing: object) -> None:
    with pytest.raises(InvalidInputError, match="model name is needed"):
        get(nothing)  # type: ignore[arg-type]


def test_a_very_long_name_is_cut_in_the_message() -> None:
    with pytest.raises(UnknownNameError) as caught:
        get("x" * 100_000)
    assert len(str(caught.value)) < 500


def test_a_point_between_digits_counts() -> None:
    assert fold("opt-1.3b") != fold("opt-13b")


def test_the_public_names_are_documented() -> None:
    for name in advisor.zoo.__all__:
        assert getattr(advisor.zoo, name).__doc__
