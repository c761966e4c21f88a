"""FLOPs against published ones. A multiply-add (MAC) is two FLOPs."""

from __future__ import annotations

import pytest

from advisor.zoo import get, names
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, decoder

# Giga-MACs per image: torchvision model documentation (where called GFLOPS), DiT table 4.
GIGA_MACS = {
    "alexnet": 0.71,
    "convnext-base": 15.36,
    "convnext-large": 34.36,
    "convnext-small": 8.68,
    "convnext-tiny": 4.46,
    "densenet-121": 2.83,
    "densenet-161": 7.73,
    "densenet-169": 3.36,
    "densenet-201": 4.29,
    "dit-b-2": 23.01,
    "dit-l-2": 80.71,
    "dit-s-2": 6.06,
    "dit-xl-2": 118.64,
    "efficientnet-b0": 0.39,
    "efficientnet-b4": 4.39,
    "mobilenet-v2": 0.30,
    "resnet-101": 7.80,
    "resnet-152": 11.51,
    "resnet-18": 1.81,
    "resnet-34": 3.66,
    "resnet-50": 4.09,
    "resnext-101-32x8d": 16.41,
    "resnext-50-32x4d": 4.23,
    "vgg-11": 7.61,
    "vgg-13": 11.31,
    "vgg-16": 15.47,
    "vgg-19": 19.63,
    # ultralytics/yolov5, README.md: FLOPs of 640 pixels, halved.
    "yolov5l": 54.55,
    "yolov5m": 24.5,
    "yolov5n": 2.25,
    "yolov5s": 8.25,
    "yolov5x": 102.85,
    "vit-b-16": 17.56,
    "vit-l-16": 61.55,
    "wide-resnet-101-2": 22.75,
    "wide-resnet-50-2": 11.40,
}


@pytest.mark.parametrize(("name", "giga_macs"), GIGA_MACS.items())
def test_forward_flops_agree_with_the_published_ones(name: str, giga_macs: float) -> None:
    model = get(name).model()
    assert model.forward_flops_per_sample / 2e9 == pytest.approx(giga_macs, rel=0.02)


def test_stable_diffusion_takes_339_giga_macs_without_attention_scores() -> None:
    """Kim et al. 2023, arXiv 2305.15798, table 1: 339 G for one step of the UNet."""
    model = get("stable-diffusion-1.5").model()
    linear = model.forward_flops_per_sample - model.attention_flops_per_sample
    assert linear / 2e9 == pytest.approx(339, rel=0.01)


def test_gpt_3_takes_3e23_flops_to_train() -> None:
    """Brown et al. 2020, arXiv 2005.14165, table D.1: 3.14e23 for 300 billion tokens."""
    model = get("gpt-3-175b").model()
    samples = 300e9 / model.tokens_per_sample
    assert 3 * samples * model.forward_flops_per_sample == pytest.approx(3.14e23, rel=0.03)


@pytest.mark.parametrize("name", ["gpt-3-175b", "gpt-2-xl", "opt-66b", "bloom-176b"])
def test_decoders_follow_the_equation_of_narayanan(name: str) -> None:
    """Narayanan et al. 2021, arXiv 2104.04473, appendix: 24 s l h² + 4 s² l h + 2 s h V."""
    model = get(name).model()
    s, h = model.tokens_per_sample, model.hidden
    attention = 4 * s**2 * h * model.layers
    expected = 24 * s * h**2 * model.layers + attention + 2 * s * h * model.vocab
    assert model.attention_flops_per_sample == attention
    assert model.forward_flops_per_sample == expected


@pytest.mark.parametrize("name", ["llama-2-7b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3"])
def test_matmuls_cost_two_flops_per_active_weight(name: str) -> None:
    """Kaplan et al. 2020, arXiv 2001.08361: 2 N per token; embeddings are only looked up."""
    model = get(name).model()
    weights = model.active_params - model.vocab * model.hidden
    matmuls = model.forward_flops_per_sample - model.attention_flops_per_sample
    assert matmuls / model.tokens_per_sample == pytest.approx(2 * weights, rel=0.001)


def test_grouped_queries_make_keys_and_values_cheaper_but_not_the_scores() -> None:
    def model_with(kv_heads: int):
        shape = DecoderShape(
            vocab=1000, hidden=512, layers=1, heads=8, kv_heads=kv_heads, inner=1024
        )
        return decoder(styles.LLAMA, shape, name="x", title="x").model(64)

    full, grouped = model_with(8), model_with(2)
    saved = 2 * 64 * 2 * 512 * (512 - 128)
    assert full.forward_flops_per_sample - grouped.forward_flops_per_sample == saved
    assert full.attention_flops_per_sample == grouped.attention_flops_per_sample


@pytest.mark.parametrize("name", names())
def test_attention_is_part_of_the_flops(name: str) -> None:
    model = get(name).model()
    assert 0 <= model.attention_flops_per_sample < model.forward_flops_per_sample
    assert (model.attention_flops_per_sample > 0) == (model.attention_elements_per_sample > 0)
