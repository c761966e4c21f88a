"""Shapes of networks: those the zoo knows, and language models known by some numbers only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from advisor.domain import Model

# Width of published language models over GPT-3, Llama, OPT, MPT and Pythia: hidden = 1.42 ·
# params ** 0.352; depth follows from it and scatters more.
WIDTH_COEFFICIENT = 1.42
WIDTH_EXPONENT = 0.352
DEFAULT_VOCAB = 50_304.0
# Elements kept per token and layer, in units of the width (Korthikanti et al., 2022,
# arXiv 2205.05198, equation 1: 34 bytes at two bytes an element).
KEPT_WIDTHS = 17.0
HEAD_DIM = 128.0


def network_columns(model: Model) -> dict[str, float]:
    """Return the columns of `advisor.predictor.jobs.Jobs` that describe a network of the zoo."""
    return {
        "params": model.params,
        "active_params": model.active_params,
        "embedding_params": float(model.vocab * model.hidden),
        "layers": float(model.layers),
        "hidden": float(model.hidden),
        "tokens_per_sample": float(model.tokens_per_sample),
        "vocab": float(model.vocab),
        "forward_flops_per_sample": model.forward_flops_per_sample,
        "attention_flops_per_sample": model.attention_flops_per_sample,
        "activation_elements_per_sample": model.activation_elements_per_sample,
        "attention_elements_per_sample": model.attention_elements_per_sample,
        "boundary_elements_per_sample": model.boundary_elements_per_sample,
        "is_transformer": float(model.is_transformer),
    }


def fill_language_shapes(
    *,
    params: pd.Series,
    layers: pd.Series,
    hidden: pd.Series,
    vocab: pd.Series,
    tokens: pd.Series,
    kv_share: pd.Series,
    active_params: pd.Series,
) -> dict[str, pd.Series]:
    """Complete transformer shapes from whatever is known of them.

    Width and depth that are not given follow from the parameter count (12·L·h² plus the
    vocabulary) at the usual proportions; a parameter count that is not given follows from them.

    Returns
    -------
    dict of Series
        Columns of `advisor.predictor.jobs.Jobs` that describe the model; NaN where too little
        is known.
    """
    vocabulary = vocab.fillna(DEFAULT_VOCAB)
    width = hidden.fillna(_usual_width(params))
    embedding = vocabulary * width
    depth = layers.fillna(_usual_depth(params, width, embedding))
    total = params.fillna(12 * depth * width**2 + embedding)
    # A look-up costs nothing, but the output projection has the embedding's size.
    active = active_params.fillna(total)
    attention = 4 * depth * width * tokens**2
    heads = (width / HEAD_DIM).clip(lower=1)
    kept = depth * tokens * width * (KEPT_WIDTHS - 2.0 * (1 - kv_share.fillna(1.0)))
    return {
        "params": total,
        "active_params": active,
        "embedding_params": embedding,
        "layers": depth,
        "hidden": width,
        "tokens_per_sample": tokens,
        "vocab": vocabulary,
        "forward_flops_per_sample": 2 * active * tokens + attention,
        "attention_flops_per_sample": attention,
        "activation_elements_per_sample": kept,
        "attention_elements_per_sample": 2.5 * depth * heads * tokens**2,
        "boundary_elements_per_sample": tokens * width,
    }


def _usual_width(params: pd.Series) -> pd.Series:
    """Return the width of a model of so many parameters, a multiple of 128."""
    return 128 * (WIDTH_COEFFICIENT * params**WIDTH_EXPONENT / 128).round().clip(lower=1)


def _usual_depth(params: pd.Series, width: pd.Series, embedding: pd.Series) -> pd.Series:
    """Return the layers that make up the parameters at a width; at least 30 % are in layers."""
    block = (params - embedding).clip(lower=params * 0.3)
    return (block / (12 * width**2)).round().clip(lower=1)
