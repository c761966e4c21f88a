"""Encoder-decoders: T5 (text to text) and Whisper (speech to text)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

from advisor.domain import Model
from advisor.zoo.base import Architecture
from advisor.zoo.layers.block import Stack
from advisor.zoo.layers.linear import Linear, total_params

OUTER_NORMS: Final = 2
"""One behind the encoder and one behind the decoder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderDecoder(Architecture):
    """Two stacks; the second attends to the output of the first.

    Parameters
    ----------
    vocab : int
        Rows of the token embedding.
    encoder, decoder : Stack
        The blocks.
    tied : bool
        Whether the vocabulary projection shares the embedding's weights.
    position_params : int
        Parameters of positions, relative or absolute.
    frontend : tuple of (Linear, int)
        Layers before the encoder and how often a sample passes them (Whisper's convolutions).
    """

    vocab: int
    encoder: Stack
    decoder: Stack
    tied: bool = True
    position_params: int = 0
    frontend: tuple[tuple[Linear, int], ...] = ()

    @abstractmethod
    def lengths(self, sample_size: int) -> tuple[int, int]:
        """Return the tokens of encoder and decoder at a sample size."""

    @property
    def params(self) -> int:
        """Embedding, positions, both stacks, norms and head."""
        block, _ = self.encoder.parts[0]
        hidden = self.encoder.hidden
        embeddings = self.vocab * hidden * (1 if self.tied else 2)
        norms = OUTER_NORMS * block.norm_vectors * hidden
        frontend = total_params(linear for linear, _ in self.frontend)
        outside = embeddings + norms + frontend + self.position_params
        return outside + self.encoder.params + self.decoder.params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers."""
        return self.encoder.adapter_dimensions + self.decoder.adapter_dimensions

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at a sample size; tokens per sample are those of the encoder."""
        source, target = self.lengths(self.checked_sample_size(sample_size))
        encoder, decoder = self.encoder, self.decoder
        attention_flops = encoder.attention_flops(source)
        attention_flops += decoder.attention_flops(target, source)
        matmul_flops = encoder.matmul_flops(source) + decoder.matmul_flops(target, source)
        matmul_flops += target * Linear(encoder.hidden, self.vocab).flops_per_token
        matmul_flops += sum(times * linear.flops_per_token for linear, times in self.frontend)
        kept = encoder.kept_elements(source) + decoder.kept_elements(target, source)
        scores = encoder.score_elements(source) + decoder.score_elements(target, source)
        return Model.make(
            name=self.name,
            family=self.family,
            params=self.params,
            active_params=self.params,
            layers=encoder.layers + decoder.layers,
            hidden=encoder.hidden,
            heads=encoder.attention.heads,
            kv_heads=encoder.attention.kv_heads,
            vocab=self.vocab,
            tokens_per_sample=source,
            forward_flops_per_sample=matmul_flops + attention_flops,
            attention_flops_per_sample=attention_flops,
            activation_elements_per_sample=kept + self._kept_outside(source, target),
            attention_elements_per_sample=scores,
            boundary_elements_per_sample=max(source, target) * encoder.hidden,
            source=self.source,
        )

    def _kept_outside(self, source: int, target: int) -> int:
        """Return inputs of the last norms, encoder output, input of the head and frontend."""
        ends = 2 * (source + target) * self.encoder.hidden
        return ends + sum(times * linear.outputs for linear, times in self.frontend)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextToText(EncoderDecoder):
    """T5 (Raffel et al. 2019, arXiv 1910.10683); the sample size is the encoder's length.

    Parameters
    ----------
    target_share : float
        Tokens of the decoder per token of the encoder. Filling masked spans makes 114 of 512
        (section 3.1.4 and the released configuration).
    """

    target_share: float = 114 / 512

    sample_unit: ClassVar[str] = "sequence"
    size_word: ClassVar[str] = "sequence length"

    def lengths(self, sample_size: int) -> tuple[int, int]:
        """Return the tokens of encoder and decoder."""
        return sample_size, math.ceil(self.target_share * sample_size)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeechToText(EncoderDecoder):
    """Whisper (Radford et al. 2022, arXiv 2212.04356); the sample size is the text's length.

    Parameters
    ----------
    audio_tokens : int
        Positions of the encoder: 30 s of sound, always.
    """

    audio_tokens: int = 1500

    sample_unit: ClassVar[str] = "clip"
    size_word: ClassVar[str] = "transcript length"

    def lengths(self, sample_size: int) -> tuple[int, int]:
        """Return the tokens of encoder and decoder."""
        return self.audio_tokens, sample_size
