"""Language models: a token embedding, a stack of blocks and a vocabulary projection.

Decoders (GPT, Llama, Mixtral, …) and encoders (BERT) differ in the style of their blocks and in
what stands around the stack, not in how they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.domain import Model
from advisor.zoo.base import Architecture
from advisor.zoo.layers.attention import Attention, LatentAttention
from advisor.zoo.layers.block import DROPOUT_MASK_ELEMENTS, Block, Stack
from advisor.zoo.layers.feed_forward import Experts, FeedForward
from advisor.zoo.layers.linear import Linear, total_flops_per_token, total_params


@dataclass(frozen=True, kw_only=True, slots=True)
class LanguageModel(Architecture):
    """A transformer over tokens.

    Parameters
    ----------
    vocab : int
        Rows of the token embedding.
    stack : Stack
        The blocks.
    embedding_width : int, optional
        Width of the token embedding where it is not that of the stack (OPT-350M).
    position_rows : int
        Rows of a learned position table; 0 for rotary, ALiBi or fixed positions.
    segment_rows : int
        Rows of a learned segment table (BERT).
    outer_norms : int
        Normalisations outside the blocks: of the embedding, the last one, of the head.
    tied : bool
        Whether the vocabulary projection shares the embedding's weights.
    head_bias : bool
        Whether the vocabulary projection has a bias.
    token_linears : tuple of Linear
        Further linear layers that tokens pass outside the blocks.
    pooled_linears : tuple of Linear
        Linear layers that each sequence passes once (BERT's pooler and sentence classifier).
    predicted_share : float
        Share of the tokens that a loss is computed for: 1 for decoders, 0.15 for BERT.
    """

    vocab: int
    stack: Stack
    embedding_width: int | None = None
    position_rows: int = 0
    segment_rows: int = 0
    outer_norms: int = 1
    tied: bool = False
    head_bias: bool = False
    token_linears: tuple[Linear, ...] = ()
    pooled_linears: tuple[Linear, ...] = ()
    predicted_share: float = 1.0

    sample_unit: ClassVar[str] = "sequence"
    size_word: ClassVar[str] = "sequence length"

    @property
    def params(self) -> int:
        """Embeddings, blocks, norms and head."""
        return self._outside_stack + self.stack.params

    @property
    def active_params(self) -> int:
        """Parameters that one token uses."""
        return self._outside_stack + self.stack.active_params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers."""
        return self.stack.adapter_dimensions

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at a sequence length."""
        tokens = self.checked_sample_size(sample_size)
        attention_flops = self.stack.attention_flops(tokens)
        forward_flops = self.stack.matmul_flops(tokens) + attention_flops + self._head_flops(tokens)
        experts = self.stack.experts
        attention = self.stack.attention
        return Model.make(
            name=self.name,
            family=self.family,
            params=self.params,
            active_params=self.active_params,
            layers=self.stack.layers,
            hidden=self.stack.hidden,
            heads=attention.heads,
            kv_heads=attention.kv_heads,
            vocab=self.vocab,
            experts=experts.count if experts else 0,
            experts_per_token=experts.per_token if experts else 0,
            expert_params=self.stack.expert_params,
            tokens_per_sample=tokens,
            forward_flops_per_sample=forward_flops,
            attention_flops_per_sample=attention_flops,
            activation_elements_per_sample=self.stack.kept_elements(tokens) + self._kept(tokens),
            attention_elements_per_sample=self.stack.score_elements(tokens),
            boundary_elements_per_sample=tokens * self.stack.hidden,
            source=self.source,
        )

    @property
    def _head_width(self) -> int:
        return self.embedding_width or self.stack.hidden

    @property
    def _outside_stack(self) -> int:
        block, _ = self.stack.parts[0]
        tables = (self.position_rows + self.segment_rows) * self.stack.hidden
        embedding = self.vocab * self._head_width
        head = (0 if self.tied else embedding) + (self.vocab if self.head_bias else 0)
        norms = self.outer_norms * block.norm_vectors * self.stack.hidden
        linears = total_params(self.token_linears + self.pooled_linears)
        return embedding + tables + head + norms + linears

    def _head_flops(self, tokens: int) -> float:
        """Return the forward FLOPs of the vocabulary projection and what stands around it.

        ``2 s h V`` for the projection (Narayanan et al. 2021, arXiv 2104.04473, appendix).
        """
        projection = Linear(self._head_width, self.vocab).flops_per_token
        per_token = projection + total_flops_per_token(self.token_linears)
        pooled = total_flops_per_token(self.pooled_linears)
        return self.predicted_share * tokens * per_token + pooled

    def _kept(self, tokens: int) -> float:
        """Return the elements kept outside the blocks, without the logits.

        Dropout mask of the embedding and inputs of the outer norms and the head (Korthikanti et
        al. 2022, arXiv 2205.05198, section 4.3). Logits are tokens × vocabulary elements in
        single precision whatever the rest is trained in, so the memory model counts them apart.
        """
        block, _ = self.stack.parts[0]
        mask = DROPOUT_MASK_ELEMENTS * self.stack.hidden if block.dropout else 0.0
        norms = self.outer_norms * self.stack.hidden
        linears = sum(linear.inputs + linear.outputs for linear in self.token_linears)
        predicted = self._head_width + linears
        return tokens * (mask + norms + self.predicted_share * predicted)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecoderStyle:
    """What all sizes of a family of decoders share.

    Parameters
    ----------
    gated : bool
        Whether feed-forward layers are gated.
    relu : bool
        Whether their activation is ReLU, which keeps less for the backward pass.
    norm_vectors : int
        Trained vectors per normalisation: 0 none, 1 a scale, 2 a scale and a shift.
    norms_per_block : int
        Normalisations in a block.
    parallel : bool
        Whether attention and feed-forward read the same input.
    qkv_bias, out_bias, ffn_bias, head_bias : bool
        Which linear layers have biases.
    head_norm : bool
        Whether queries and keys are normalised per head.
    learned_positions : bool
        Whether positions are a learned table, which limits the sequence length.
    spare_positions : int
        Unused rows at the start of that table (OPT: 2).
    embedding_norm, final_norm : bool
        Normalisations outside the blocks.
    tied : bool
        Whether embedding and vocabulary projection share weights.
    dropout : bool
        Whether training uses dropout after the sublayers.
    """

    gated: bool = False
    relu: bool = False
    norm_vectors: int = 2
    norms_per_block: int = 2
    parallel: bool = False
    qkv_bias: bool = False
    out_bias: bool = False
    ffn_bias: bool = False
    head_bias: bool = False
    head_norm: bool = False
    learned_positions: bool = False
    spare_positions: int = 0
    embedding_norm: bool = False
    final_norm: bool = True
    tied: bool = False
    dropout: bool = False

    def attention(self, hidden: int, heads: int, kv_heads: int, head_dim: int) -> Attention:
        """Return attention in this style."""
        return Attention(
            hidden=hidden,
            heads=heads,
            kv_heads=kv_heads,
            head_dim=head_dim,
            qkv_bias=self.qkv_bias,
            out_bias=self.out_bias,
            head_norm=self.head_norm,
        )

    def feed_forward(self, hidden: int, inner: int) -> FeedForward:
        """Return a feed-forward layer in this style."""
        return FeedForward(
            hidden=hidden,
            inner=inner,
            gated=self.gated,
            bias=self.ffn_bias,
            saves_input=not self.relu,
        )

    def block(
        self, attention: Attention | LatentAttention, feed_forward: FeedForward | Experts
    ) -> Block:
        """Return a block in this style."""
        return Block(
            attention=attention,
            feed_forward=feed_forward,
            norms=self.norms_per_block,
            norm_vectors=self.norm_vectors,
            parallel=self.parallel,
            dropout=self.dropout,
        )

    @property
    def outer_norms(self) -> int:
        """Normalisations outside the blocks."""
        return int(self.embedding_norm) + int(self.final_norm)

    def position_rows(self, longest: int | None) -> int:
        """Return the rows of the position table for sequences up to `longest`."""
        return (longest or 0) + self.spare_positions if self.learned_positions else 0
