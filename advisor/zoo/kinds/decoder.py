"""Put a decoder together from a style and its dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from advisor.domain import Family
from advisor.zoo.base import Facts
from advisor.zoo.kinds.transformer import DecoderStyle, LanguageModel
from advisor.zoo.layers.block import Stack
from advisor.zoo.layers.feed_forward import Experts
from advisor.zoo.layers.linear import Linear

if TYPE_CHECKING:
    from advisor.zoo.layers.attention import LatentAttention

LONGEST_DEFAULT_SEQUENCE = 8192
"""Contexts beyond it are reached in a short last phase, not over most of the training."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpertShape:
    """The mixture of experts in a decoder.

    Parameters
    ----------
    count, per_token : int
        Routed experts, and how many serve a token.
    inner : int
        Inner width of one routed expert.
    shared_inner : int
        Inner width of what every token passes besides; 0: nothing.
    shared_gate, router_bias : bool
        See `Experts`.
    dense_layers : int
        First layers that are plain feed-forward.
    """

    count: int
    per_token: int
    inner: int
    shared_inner: int = 0
    shared_gate: bool = False
    router_bias: bool = False
    dense_layers: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DecoderShape:
    """The dimensions of a decoder, as its paper or configuration gives them.

    Parameters
    ----------
    vocab, hidden, layers, heads : int
        Rows of the embedding, width, blocks, query heads.
    inner : int
        Inner width of the (dense) feed-forward layers.
    kv_heads, head_dim : int, optional
        Key and value heads (as many as `heads`) and their width (``hidden / heads``).
    longest : int, optional
        Longest sequence; a limit only where positions are learned.
    embedding_width : int, optional
        Width of the token embedding where it is not `hidden`.
    latent : LatentAttention, optional
        Multi-head latent attention in place of multi-head attention.
    experts : ExpertShape, optional
        The mixture of experts.
    """

    vocab: int
    hidden: int
    layers: int
    heads: int
    inner: int
    kv_heads: int | None = None
    head_dim: int | None = None
    longest: int | None = None
    embedding_width: int | None = None
    latent: LatentAttention | None = None
    experts: ExpertShape | None = None


def decoder(
    style: DecoderStyle,
    shape: DecoderShape,
    *,
    sequence: int | None = None,
    **facts: Unpack[Facts],
) -> LanguageModel:
    """Return the decoder of a `style` and a `shape`.

    `sequence` is the length it is trained with; by default the longest, at most 8192.
    """
    family: Family = "moe" if shape.experts else "language"
    longest = shape.longest or LONGEST_DEFAULT_SEQUENCE
    width = shape.embedding_width
    projections = (Linear(width, shape.hidden), Linear(shape.hidden, width)) if width else ()
    return LanguageModel(
        **facts,
        family=family,
        default_sample_size=sequence or min(longest, LONGEST_DEFAULT_SEQUENCE),
        largest_sample_size=shape.longest if style.learned_positions else None,
        vocab=shape.vocab,
        stack=decoder_stack(style, shape),
        embedding_width=width,
        position_rows=style.position_rows(shape.longest),
        outer_norms=style.outer_norms,
        tied=style.tied,
        head_bias=style.head_bias,
        token_linears=projections,
    )


def decoder_stack(style: DecoderStyle, shape: DecoderShape) -> Stack:
    """Return the blocks: all alike, or first the dense ones and then those with experts."""
    attention = shape.latent or style.attention(
        shape.hidden,
        shape.heads,
        shape.kv_heads or shape.heads,
        shape.head_dim or shape.hidden // shape.heads,
    )
    dense = style.block(attention, style.feed_forward(shape.hidden, shape.inner))
    if not shape.experts:
        return Stack(parts=((dense, shape.layers),))
    sparse = replace(dense, feed_forward=experts(style, shape.hidden, shape.experts))
    parts = (
        (dense, shape.experts.dense_layers),
        (sparse, shape.layers - shape.experts.dense_layers),
    )
    return Stack(parts=tuple(part for part in parts if part[1]))


def experts(style: DecoderStyle, hidden: int, shape: ExpertShape) -> Experts:
    """Return the mixture of experts of a `style` and a `shape`."""
    shared = style.feed_forward(hidden, shape.shared_inner) if shape.shared_inner else None
    return Experts(
        expert=style.feed_forward(hidden, shape.inner),
        count=shape.count,
        per_token=shape.per_token,
        shared=shared,
        shared_gate=shape.shared_gate,
        router_bias=shape.router_bias,
    )
