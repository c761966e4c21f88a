"""Attention: multi-head, grouped-query and multi-head latent."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.zoo.layers.linear import Linear, total_params

SCORE_ELEMENTS_PER_PAIR = 2.5
"""Kept per head and (query, key) pair when attention is not fused.

Softmax output and dropout output at two bytes and the dropout mask at one: 5 a s² b bytes, which
is 2.5 elements of two bytes (Korthikanti et al. 2022, arXiv 2205.05198, section 4.1). Without
dropout, implementations that take the softmax in single precision keep as much.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attention:
    """Multi-head attention; grouped-query when there are fewer key and value heads.

    Parameters
    ----------
    hidden : int
        Width of the residual stream.
    heads, kv_heads, head_dim : int
        Query heads, key and value heads, and their width.
    qkv_bias, out_bias : bool
        Whether the projections have biases.
    key_bias : bool
        Whether the key projection has a bias where the others have one (not in Whisper).
    head_norm : bool
        Whether queries and keys are normalised per head (Qwen3).
    context_hidden : int, optional
        Width of what keys and values are read from, for cross-attention; None: `hidden`.
    """

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    qkv_bias: bool = False
    out_bias: bool = False
    key_bias: bool = True
    head_norm: bool = False
    context_hidden: int | None = None

    @property
    def query_linears(self) -> tuple[Linear, ...]:
        """Layers that each query token passes."""
        width = self.heads * self.head_dim
        return (
            Linear(self.hidden, width, self.qkv_bias),
            Linear(width, self.hidden, self.out_bias),
        )

    @property
    def context_linears(self) -> tuple[Linear, ...]:
        """Layers that each token attended to passes."""
        inputs = self.context_hidden or self.hidden
        width = self.kv_heads * self.head_dim
        return (
            Linear(inputs, width, self.qkv_bias and self.key_bias),
            Linear(inputs, width, self.qkv_bias),
        )

    @property
    def params(self) -> int:
        """Parameters of the projections and the per-head norms."""
        norms = 2 * self.head_dim if self.head_norm else 0
        return total_params(self.query_linears + self.context_linears) + norms

    def score_flops(self, tokens: int, context: int) -> int:
        """Return the forward FLOPs of scores and weighted values, without a causal saving.

        ``2·t·c·a·d`` for QKᵀ and as much for AV; with t = c = s and a·d = h this is the
        ``4 s² h`` in Narayanan et al. 2021 (arXiv 2104.04473, appendix). Sliding windows (Mistral,
        Gemma 2) are not taken off either.
        """
        return score_flops(tokens, context, self.heads, self.head_dim, self.head_dim)

    def kept_elements(self, tokens: int, context: int) -> int:
        """Return queries, keys, values and the output, kept for the backward pass.

        Queries, keys and values are ``3sh`` and the output (the input of the projection) is
        ``sh`` in Korthikanti et al. 2022, section 4.1, with fused attention: no scores.
        """
        queries = tokens * self.heads * self.head_dim
        keys = context * self.kv_heads * self.head_dim
        before_norm = queries + keys if self.head_norm else 0
        return 2 * queries + 2 * keys + before_norm

    def score_elements(self, tokens: int, context: int) -> float:
        """Return what the scores keep for the backward pass if attention is not fused."""
        return SCORE_ELEMENTS_PER_PAIR * self.heads * tokens * context


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).

    Keys and values are expanded from a vector of `kv_rank`, queries from one of `query_rank`
    (0: directly from the residual stream). Each query and key has a part without and a part with
    rotary positions; the rotary key is shared by all heads.
    """

    hidden: int
    heads: int
    query_rank: int
    kv_rank: int
    plain_dim: int
    rotary_dim: int
    value_dim: int

    @property
    def kv_heads(self) -> int:
        """Heads of the expanded keys and values."""
        return self.heads

    @property
    def head_dim(self) -> int:
        """Width of a query or key."""
        return self.plain_dim + self.rotary_dim

    @property
    def query_linears(self) -> tuple[Linear, ...]:
        """Layers that each query token passes."""
        width = self.heads * self.head_dim
        out = Linear(self.heads * self.value_dim, self.hidden)
        if not self.query_rank:
            return (Linear(self.hidden, width), out)
        return (Linear(self.hidden, self.query_rank), Linear(self.query_rank, width), out)

    @property
    def context_linears(self) -> tuple[Linear, ...]:
        """Layers that each token attended to passes."""
        return (
            Linear(self.hidden, self.kv_rank + self.rotary_dim),
            Linear(self.kv_rank, self.heads * (self.plain_dim + self.value_dim)),
        )

    @property
    def params(self) -> int:
        """Parameters of the projections and of the norms on the two compressed vectors."""
        linears = self.query_linears + self.context_linears
        return total_params(linears) + self.query_rank + self.kv_rank

    def score_flops(self, tokens: int, context: int) -> int:
        """Return the forward FLOPs of scores and weighted values (see `Attention`)."""
        return score_flops(tokens, context, self.heads, self.head_dim, self.value_dim)

    def kept_elements(self, tokens: int, context: int) -> int:
        """Return queries, keys, values, output and the compressed vectors around their norms."""
        per_query = self.heads * (self.head_dim + self.value_dim) + 2 * self.query_rank
        per_key = self.heads * (self.head_dim + self.value_dim) + 2 * self.kv_rank + self.rotary_dim
        return tokens * per_query + context * per_key

    def score_elements(self, tokens: int, context: int) -> float:
        """Return what the scores keep for the backward pass if attention is not fused."""
        return SCORE_ELEMENTS_PER_PAIR * self.heads * tokens * context


def score_flops(tokens: int, context: int, heads: int, key_dim: int, value_dim: int) -> int:
    """Return the FLOPs of QKᵀ and AV of one layer, every query with every key.

    >>> score_flops(2048, 2048, 96, 128, 128) == 4 * 2048**2 * 12288
    True
    """
    return 2 * tokens * context * heads * (key_dim + value_dim)
