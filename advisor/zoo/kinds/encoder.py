"""Encoders trained on masked tokens: BERT, RoBERTa, DistilBERT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from advisor.zoo.base import Facts
from advisor.zoo.kinds.transformer import LanguageModel
from advisor.zoo.layers.block import Stack, classic_block
from advisor.zoo.layers.linear import Linear

MASKED_SHARE = 0.15
"""Share of tokens that are predicted (Devlin et al. 2018, arXiv 1810.04805, section 3.1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderShape:
    """The dimensions of an encoder.

    Parameters
    ----------
    vocab, hidden, layers, heads, inner : int
        Rows of the embedding, width, blocks, heads, inner width of the feed-forward layers.
    position_rows : int
        Rows of the learned position table.
    longest : int
        Longest sequence; RoBERTa has two spare position rows.
    segment_rows : int
        Rows of the segment table; 0: none.
    next_sentence : bool
        Whether it has a pooler and predicts if two sentences follow each other.
    """

    vocab: int
    hidden: int
    layers: int
    heads: int
    inner: int
    position_rows: int = 512
    longest: int = 512
    segment_rows: int = 2
    next_sentence: bool = True


def encoder(shape: EncoderShape, **facts: Unpack[Facts]) -> LanguageModel:
    """Return an encoder with the head that predicts masked tokens.

    The head is a linear layer, a norm and the tied vocabulary projection with a bias, applied to
    the masked tokens only, as the original implementation and the MLPerf reference do.
    """
    hidden = shape.hidden
    block = classic_block(hidden, shape.heads, shape.inner, dropout=True)
    pooler = (Linear(hidden, hidden, bias=True), Linear(hidden, 2, bias=True))
    return LanguageModel(
        **facts,
        family="encoder",
        default_sample_size=shape.longest,
        largest_sample_size=shape.longest,
        vocab=shape.vocab,
        stack=Stack(parts=((block, shape.layers),)),
        position_rows=shape.position_rows,
        segment_rows=shape.segment_rows,
        outer_norms=2,
        tied=True,
        head_bias=True,
        token_linears=(Linear(hidden, hidden, bias=True),),
        pooled_linears=pooler if shape.next_sentence else (),
        predicted_share=MASKED_SHARE,
    )
