"""Numbers grow with every dimension."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.domain import Model
from advisor.zoo import get
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, ExpertShape, decoder
from advisor.zoo.kinds.transformer import DecoderStyle

STYLES = [styles.LLAMA, styles.GPT2, styles.GPT_NEOX, styles.GEMMA2, styles.QWEN3, styles.OPT]

shapes = st.builds(
    lambda heads, kv_share, head_dim, layers, inner, vocab: DecoderShape(
        vocab=vocab,
        hidden=heads * kv_share * head_dim,
        layers=layers,
        heads=heads * kv_share,
        kv_heads=heads,
        inner=inner,
        longest=4096,
    ),
    heads=st.integers(1, 16),
    kv_share=st.sampled_from([1, 2, 4]),
    head_dim=st.sampled_from([32, 64, 128]),
    layers=st.integers(1, 100),
    inner=st.integers(1, 50_000),
    vocab=st.integers(1, 300_000),
)


def numbers(style: DecoderStyle, shape: DecoderShape, tokens: int = 128) -> Model:
    return decoder(style, shape, name="x", title="x").model(tokens)


@given(
    shape=shapes,
    style=st.sampled_from(STYLES),
    dimension=st.sampled_from(["vocab", "layers", "inner"]),
)
@settings(max_examples=100, deadline=None)
def test_parameters_and_flops_grow_with_each_dimension(
    shape: DecoderShape, style: DecoderStyle, dimension: str
) -> None:
    before = numbers(style, shape)
    after = numbers(style, replace(shape, **{dimension: getattr(shape, dimension) + 1}))
    assert after.params > before.params
    assert after.forward_flops_per_sample > before.forward_flops_per_sample
    assert after.activation_elements_per_sample >= before.activation_elements_per_sample


@given(shape=shapes, style=st.sampled_from(STYLES))
@settings(max_examples=50, deadline=None)
def test_everything_grows_with_the_width(shape: DecoderShape, style: DecoderStyle) -> None:
    before = numbers(style, shape)
    after = numbers(style, replace(shape, hidden=2 * shape.hidden))
    assert after.params > before.params
    assert after.forward_flops_per_sample > before.forward_flops_per_sample
    assert after.activation_elements_per_sample > before.activation_elements_per_sample
    assert after.boundary_elements_per_sample == 2 * before.boundary_elements_per_sample


@given(shape=shapes, style=st.sampled_from(STYLES), tokens=st.integers(1, 2048))
@settings(max_examples=50, deadline=None)
def test_kept_elements_are_linear_and_scores_quadratic_in_the_sequence(
    shape: DecoderShape, style: DecoderStyle, tokens: int
) -> None:
    once, twice = numbers(style, shape, tokens), numbers(style, shape, 2 * tokens)
    assert twice.params == once.params
    assert twice.activation_elements_per_sample == pytest.approx(
        2 * once.activation_elements_per_sample
    )
    assert twice.attention_elements_per_sample == 4 * once.attention_elements_per_sample
    assert twice.attention_flops_per_sample == 4 * once.attention_flops_per_sample


@given(shape=shapes, count=st.integers(2, 64), inner=st.integers(1, 4096), data=st.data())
@settings(max_examples=50, deadline=None)
def test_more_experts_cost_parameters_and_hardly_any_flops(
    shape: DecoderShape, count: int, inner: int, data: st.DataObject
) -> None:
    per_token = data.draw(st.integers(1, count))
    few = ExpertShape(count=count, per_token=per_token, inner=inner)
    before = numbers(styles.LLAMA, replace(shape, experts=few))
    after = numbers(styles.LLAMA, replace(shape, experts=replace(few, count=count + 1)))
    router = 2 * 128 * shape.hidden * shape.layers
    assert after.params > before.params
    assert after.forward_flops_per_sample - before.forward_flops_per_sample == router


@pytest.mark.parametrize(
    "name", ["resnet-50", "vgg-16", "densenet-121", "convnext-tiny", "vit-b-16", "dit-xl-2", "sdxl"]
)
def test_larger_images_cost_more_but_have_no_more_parameters(name: str) -> None:
    architecture = get(name)
    side = architecture.default_sample_size
    usual, large = architecture.model(), architecture.model(2 * side)
    assert large.params == usual.params
    assert large.resolution == 2 * side
    assert large.forward_flops_per_sample > 3 * usual.forward_flops_per_sample
    assert large.activation_elements_per_sample > 3 * usual.activation_elements_per_sample


def test_the_decoder_of_t5_reads_and_writes_in_proportion() -> None:
    short, long = get("t5-base").model(512), get("t5-base").model(1024)
    linear = [m.forward_flops_per_sample - m.attention_flops_per_sample for m in (short, long)]
    assert linear[1] == pytest.approx(2 * linear[0])


def test_whisper_hears_thirty_seconds_however_short_the_text() -> None:
    short, long = get("whisper-small").model(1), get("whisper-small").model()
    assert short.tokens_per_sample == long.tokens_per_sample == 1500
    assert short.forward_flops_per_sample < long.forward_flops_per_sample


def test_a_record_of_clicks_has_no_size() -> None:
    model = get("dlrm").model(1)
    assert model.tokens_per_sample == 1
    assert model.boundary_elements_per_sample == 26 * 128
