"""Architectures that are only known by their size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.core.errors import InvalidInputError
from advisor.zoo import from_size, resolve


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("7B dense", 7e9),
        ("7b", 7e9),
        ("1.3B", 1.3e9),
        ("13 B", 13e9),
        ("350M", 350e6),
        ("0.1B", 0.1e9),
        ("175 billion parameters", 175e9),
        ("1T", 1e12),
        ("dense-70b", 70e9),
    ],
)
def test_a_dense_size_is_met_within_one_percent(text: str, params: float) -> None:
    architecture = from_size(text)
    assert architecture.params == pytest.approx(params, rel=0.01)
    assert architecture.family == "language"
    assert architecture.assumptions


@given(billions=st.floats(0.1, 500))
@settings(max_examples=60, deadline=None)
def test_every_dense_size_is_met_with_sensible_proportions(billions: float) -> None:
    architecture = from_size(f"{billions:.4f}B")
    model = architecture.model()
    assert model.params == pytest.approx(round(billions, 4) * 1e9, rel=0.01)
    assert model.hidden % 128 == 0
    assert model.hidden in (64 * model.heads, 128 * model.heads)
    assert model.layers % 4 == 0
    assert 30 < model.hidden / model.layers < 260


@pytest.mark.parametrize("text", ["50M", "60M", "0.08B", "2T", "20T"])
def test_the_ends_of_the_range_are_met(text: str) -> None:
    number, scale = float(text[:-1]), {"M": 1e6, "B": 1e9, "T": 1e12}[text[-1]]
    assert from_size(text).params == pytest.approx(number * scale, rel=0.01)


def test_seven_billion_look_like_llama() -> None:
    model = from_size("7B").model()
    assert (model.layers, model.hidden, model.heads, model.vocab) == (32, 4096, 32, 32000)


def test_copies_share_the_attention() -> None:
    mixture, dense = from_size("8x7B moe"), from_size("7B")
    model = mixture.model()
    assert (model.experts, model.experts_per_token) == (8, 2)
    assert dense.params < model.active_params < model.params < 8 * dense.params
    assert "39.5B parameters" in mixture.assumptions[0]


@pytest.mark.parametrize(
    ("text", "total", "active"),
    [
        ("moe 47B a13B", 47e9, 13e9),
        ("30B-A3B", 30e9, 3e9),
        ("235B A22B moe", 235e9, 22e9),
        ("671b-a37b", 671e9, 37e9),
        ("16B active 2.4B", 16e9, 2.4e9),
        ("1T a32B", 1e12, 32e9),
    ],
)
def test_a_mixture_meets_both_counts_within_one_percent(
    text: str, total: float, active: float
) -> None:
    architecture = from_size(text)
    assert architecture.family == "moe"
    assert architecture.params == pytest.approx(total, rel=0.01)
    assert architecture.active_params == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize("text", ["7B", "1.3B", "350M", "8x7B moe", "moe 47B a13B", "30B-A3B"])
def test_names_and_titles_lead_back_to_the_same_architecture(text: str) -> None:
    architecture = from_size(text)
    assert resolve(architecture.name) == architecture
    assert resolve(architecture.title) == architecture


@pytest.mark.parametrize("text", ["", "seven", "7", "7 GB", "-7B", "1e9B", "8xB", "x7B", "7B a"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not a model size"):
        from_size(text)


@pytest.mark.parametrize("text", ["0B", "1M", "999999T", "8x0.01B"])
def test_a_size_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="a size from"):
        from_size(text)


@pytest.mark.parametrize("text", ["13B a47B", "13B a13B"])
def test_active_parameters_must_be_fewer(text: str) -> None:
    with pytest.raises(InvalidInputError, match="fewer than all"):
        from_size(text)


def test_too_few_copies_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="more than 2 experts"):
        from_size("2x7B")


def test_an_impossible_mixture_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no usual mixture"):
        from_size("20T a50M")
