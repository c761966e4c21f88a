"""A transformer block: attention and feed-forward on one residual stream."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.zoo.layers.attention import Attention, LatentAttention
from advisor.zoo.layers.feed_forward import Experts, FeedForward
from advisor.zoo.layers.linear import total_dimensions, total_flops_per_token

DROPOUT_MASK_ELEMENTS = 0.5
"""A mask takes one byte where an element takes two."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One layer of a transformer.

    Parameters
    ----------
    attention : Attention or LatentAttention
        Self-attention.
    feed_forward : FeedForward or Experts
        What follows.
    cross_attention : Attention or LatentAttention, optional
        Attention to another sequence, between the two.
    norms : int
        Normalisations in the block.
    norm_vectors : int
        Trained vectors per normalisation: 0 none, 1 a scale, 2 a scale and a shift.
    parallel : bool
        Whether attention and feed-forward read the same input (GPT-J, GPT-NeoX, Falcon).
    dropout : bool
        Whether dropout follows attention and feed-forward.
    extra_params : int
        Trained vectors that belong to none of the parts, for example layer scales.
    """

    attention: Attention | LatentAttention
    feed_forward: FeedForward | Experts
    cross_attention: Attention | LatentAttention | None = None
    norms: int = 2
    norm_vectors: int = 1
    parallel: bool = False
    dropout: bool = False
    extra_params: int = 0

    @property
    def hidden(self) -> int:
        """Width of the residual stream."""
        return self.attention.hidden

    @property
    def params(self) -> int:
        """Trained parameters."""
        return self._outside_feed_forward + self.feed_forward.params

    @property
    def active_params(self) -> int:
        """Parameters that one token uses."""
        return self._outside_feed_forward + self.feed_forward.active_params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all linear layers but the router."""
        cross = self.cross_attention
        linears = self.attention.query_linears + self.attention.context_linears
        if cross:
            linears += cross.query_linears + cross.context_linears
        return total_dimensions(linears + self.feed_forward.linears)

    def matmul_flops(self, tokens: int, context: int = 0) -> int:
        """Return the forward FLOPs of the linear layers.

        Two per weight and token (Kaplan et al. 2020, arXiv 2001.08361, table 1).

        Parameters
        ----------
        tokens : int
            Length of the sequence.
        context : int
            Length of the other sequence, for cross-attention.
        """
        own = self.attention.query_linears + self.attention.context_linears
        flops = tokens * (total_flops_per_token(own) + self.feed_forward.flops_per_token)
        if self.cross_attention:
            flops += tokens * total_flops_per_token(self.cross_attention.query_linears)
            flops += context * total_flops_per_token(self.cross_attention.context_linears)
        return flops

    def attention_flops(self, tokens: int, context: int = 0) -> int:
        """Return the forward FLOPs of attention scores and weighted values."""
        flops = self.attention.score_flops(tokens, tokens)
        if self.cross_attention:
            flops += self.cross_attention.score_flops(tokens, context)
        return flops

    def kept_elements(self, tokens: int, context: int = 0) -> float:
        """Return the elements kept for the backward pass, with fused attention.

        Inputs of the normalisations and of the sublayers, what the sublayers keep inside, and
        dropout masks at half an element. For a GPT-3 layer this is ``17 s h`` elements: the
        ``34 s b h`` bytes of Korthikanti et al. 2022 (arXiv 2205.05198, equation 1 without its
        attention term).

        Examples
        --------
        >>> attention = Attention(hidden=512, heads=8, kv_heads=8, head_dim=64)
        >>> plain = FeedForward(hidden=512, inner=2048)
        >>> block = Block(attention=attention, feed_forward=plain, dropout=True)
        >>> block.kept_elements(tokens=1) / 512
        17.0
        """
        sublayers = 3 if self.cross_attention else 2
        wide = 1 + self.norms if self.parallel else self.norms + sublayers
        masks = sublayers * DROPOUT_MASK_ELEMENTS if self.dropout else 0.0
        kept = tokens * (self.hidden * (wide + masks) + self.feed_forward.kept_per_token)
        kept += self.attention.kept_elements(tokens, tokens)
        if self.cross_attention:
            kept += self.cross_attention.kept_elements(tokens, context)
        return kept

    def score_elements(self, tokens: int, context: int = 0) -> float:
        """Return what attention scores keep besides, if attention is not fused."""
        kept = self.attention.score_elements(tokens, tokens)
        if self.cross_attention:
            kept += self.cross_attention.score_elements(tokens, context)
        return kept

    @property
    def _outside_feed_forward(self) -> int:
        cross = self.cross_attention.params if self.cross_attention else 0
        norms = self.norms * self.norm_vectors * self.hidden
        return self.attention.params + cross + norms + self.extra_params


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """Blocks one after the other: pairs of a block and how often it repeats."""

    parts: tuple[tuple[Block, int], ...]

    @property
    def layers(self) -> int:
        """Blocks in the stack."""
        return sum(times for _, times in self.parts)

    @property
    def hidden(self) -> int:
        """Width of the residual stream."""
        return self.parts[0][0].hidden

    @property
    def attention(self) -> Attention | LatentAttention:
        """Attention of the first block; heads are the same in all blocks."""
        return self.parts[0][0].attention

    @property
    def experts(self) -> Experts | None:
        """The mixture of experts, if there is one."""
        kinds = (block.feed_forward for block, _ in self.parts)
        return next((kind for kind in kinds if isinstance(kind, Experts)), None)

    @property
    def params(self) -> int:
        """Trained parameters."""
        return sum(times * block.params for block, times in self.parts)

    @property
    def active_params(self) -> int:
        """Parameters that one token uses."""
        return sum(times * block.active_params for block, times in self.parts)

    @property
    def expert_params(self) -> int:
        """Parameters inside routed experts."""
        return sum(times * block.feed_forward.expert_params for block, times in self.parts)

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers."""
        return sum(times * block.adapter_dimensions for block, times in self.parts)

    def matmul_flops(self, tokens: int, context: int = 0) -> int:
        """Return the forward FLOPs of the linear layers."""
        return sum(times * block.matmul_flops(tokens, context) for block, times in self.parts)

    def attention_flops(self, tokens: int, context: int = 0) -> int:
        """Return the forward FLOPs of attention scores and weighted values."""
        return sum(times * block.attention_flops(tokens, context) for block, times in self.parts)

    def kept_elements(self, tokens: int, context: int = 0) -> float:
        """Return the elements kept for the backward pass, with fused attention."""
        return sum(times * block.kept_elements(tokens, context) for block, times in self.parts)

    def score_elements(self, tokens: int, context: int = 0) -> float:
        """Return what attention scores keep besides, if attention is not fused."""
        return sum(times * block.score_elements(tokens, context) for block, times in self.parts)


def classic_block(
    hidden: int,
    heads: int,
    inner: int,
    *,
    norm_vectors: int = 2,
    dropout: bool = False,
    key_bias: bool = True,
) -> Block:
    """Return a block with biases everywhere and a plain feed-forward layer.

    That of the first transformer (Vaswani et al. 2017, arXiv 1706.03762), BERT and ViT.
    """
    attention = Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        qkv_bias=True,
        out_bias=True,
        key_bias=key_bias,
    )
    feed_forward = FeedForward(hidden=hidden, inner=inner, bias=True)
    return Block(
        attention=attention, feed_forward=feed_forward, norm_vectors=norm_vectors, dropout=dropout
    )
