"""Put T5 and Whisper together from their dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Unpack

from advisor.zoo.base import Facts
from advisor.zoo.kinds.encoder_decoder import SpeechToText, TextToText
from advisor.zoo.layers.attention import Attention, LatentAttention
from advisor.zoo.layers.block import Block, Stack, classic_block
from advisor.zoo.layers.feed_forward import FeedForward
from advisor.zoo.layers.linear import Linear

RELATIVE_BUCKETS: Final = 32
CONV_KERNEL: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class T5Shape:
    """The dimensions of a T5.

    Parameters
    ----------
    vocab, hidden, heads, head_dim, inner : int
        Rows of the embedding, width, heads and their width, inner width.
    encoder_layers, decoder_layers : int
        Blocks.
    gated : bool
        Whether feed-forward layers are gated (version 1.1).
    tied : bool
        Whether embedding and vocabulary projection share weights (not in version 1.1).
    buckets : int
        Buckets of relative positions, for each head of encoder and decoder.
    """

    vocab: int
    hidden: int
    heads: int
    head_dim: int
    inner: int
    encoder_layers: int
    decoder_layers: int
    gated: bool = False
    tied: bool = True
    buckets: int = RELATIVE_BUCKETS


def t5(shape: T5Shape, **facts: Unpack[Facts]) -> TextToText:
    """Return a T5."""
    attention = Attention(
        hidden=shape.hidden, heads=shape.heads, kv_heads=shape.heads, head_dim=shape.head_dim
    )
    feed_forward = FeedForward(
        hidden=shape.hidden, inner=shape.inner, gated=shape.gated, saves_input=shape.gated
    )
    block = Block(attention=attention, feed_forward=feed_forward, dropout=True)
    return TextToText(
        **facts,
        family="language",
        default_sample_size=512,
        vocab=shape.vocab,
        encoder=Stack(parts=((block, shape.encoder_layers),)),
        decoder=_attending(block, attention, shape.decoder_layers),
        tied=shape.tied,
        position_params=2 * shape.buckets * shape.heads,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WhisperShape:
    """The dimensions of a Whisper.

    Parameters
    ----------
    hidden, heads, encoder_layers, decoder_layers, inner : int
        Width, heads, blocks, inner width.
    vocab : int
        Rows of the embedding.
    mel_bins : int
        Frequencies of the spectrogram.
    audio_tokens, text_tokens : int
        Positions of encoder and decoder.
    """

    hidden: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    inner: int
    vocab: int = 51865
    mel_bins: int = 80
    audio_tokens: int = 1500
    text_tokens: int = 448


def whisper(shape: WhisperShape, **facts: Unpack[Facts]) -> SpeechToText:
    """Return a Whisper.

    The two convolutions before the encoder run at the rate of the spectrogram and at half of it.
    The encoder's sinusoids are stored with the weights and counted with them.
    """
    hidden = shape.hidden
    block = classic_block(hidden, shape.heads, shape.inner, key_bias=False)
    return SpeechToText(
        **facts,
        family="speech",
        default_sample_size=shape.text_tokens,
        largest_sample_size=shape.text_tokens,
        vocab=shape.vocab,
        encoder=Stack(parts=((block, shape.encoder_layers),)),
        decoder=_attending(block, block.attention, shape.decoder_layers),
        position_params=(shape.audio_tokens + shape.text_tokens) * hidden,
        frontend=(
            (Linear(CONV_KERNEL * shape.mel_bins, hidden, bias=True), 2 * shape.audio_tokens),
            (Linear(CONV_KERNEL * hidden, hidden, bias=True), shape.audio_tokens),
        ),
        audio_tokens=shape.audio_tokens,
    )


def _attending(block: Block, attention: Attention | LatentAttention, layers: int) -> Stack:
    """Return decoder blocks: like those of the encoder, with attention to its output."""
    return Stack(
        parts=((replace(block, cross_attention=attention, norms=block.norms + 1), layers),)
    )
