"""What is kept for the backward pass."""

from __future__ import annotations

import pytest

from advisor.zoo import get, names
from advisor.zoo.layers.network import Feature, Network


@pytest.mark.parametrize("name", ["gpt-3-175b", "gpt-3-6.7b", "gpt-2-xl"])
def test_gpt_layers_keep_34_bytes_per_token_and_channel(name: str) -> None:
    """Korthikanti et al. 2022, arXiv 2205.05198, equation 1 without attention: 34 s b h."""
    model = get(name).model()
    kept_bytes = 2 * model.activation_elements_per_sample / model.layers
    published = 34 * model.tokens_per_sample * model.hidden
    assert kept_bytes == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("name", ["gpt-3-175b", "llama-2-70b", "vit-b-16"])
def test_unfused_attention_keeps_5_bytes_per_head_and_pair(name: str) -> None:
    """The attention term of the same equation: 5 a s² b."""
    model = get(name).model()
    published = 5 * model.heads * model.tokens_per_sample**2 * model.layers
    assert 2 * model.attention_elements_per_sample == published


def test_resnet_50_keeps_each_convolution_output_before_and_after_relu() -> None:
    """Radosavovic et al. 2020, arXiv 2003.13678, table 2: 11.1 M outputs of convolutions."""
    kept = get("resnet-50").model().activation_elements_per_sample
    assert 1.7 * 11.1e6 < kept < 2.1 * 11.1e6


def test_batch_normalisation_doubles_what_vgg_keeps() -> None:
    plain = get("vgg-16").model().activation_elements_per_sample
    normalised = get("vgg-16-bn").model().activation_elements_per_sample
    assert normalised == pytest.approx(2 * plain, rel=0.15)


def test_a_tensor_that_several_layers_read_is_kept_once() -> None:
    net = Network()
    x = Feature(8, 4)
    for _ in range(3):
        net.conv(x, 8, 3)
    assert net.kept == x.elements


def test_tensors_of_different_shapes_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="cannot add"):
        Network().add(Feature(8, 4), Feature(8, 2))


@pytest.mark.parametrize("name", names())
def test_kept_elements_cover_what_crosses_between_layers(name: str) -> None:
    model = get(name).model()
    assert model.boundary_elements_per_sample <= model.activation_elements_per_sample
    if model.is_transformer:
        expected = model.tokens_per_sample * model.hidden
        assert model.boundary_elements_per_sample == expected


def test_sparse_models_keep_what_the_chosen_experts_see() -> None:
    mixtral = get("mixtral-8x7b").model(4096).activation_elements_per_sample
    mistral = get("mistral-7b").model(4096).activation_elements_per_sample
    assert 1.5 < mixtral / mistral < 2.0
