"""Read configurations of models that are no decoders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from advisor.zoo.base import Architecture
from advisor.zoo.hf.fields import (
    LARGEST_LAYERS,
    LARGEST_LENGTH,
    LARGEST_VOCAB,
    LARGEST_WIDTH,
    Fields,
)
from advisor.zoo.kinds.convnet import ConvNet
from advisor.zoo.kinds.encoder import EncoderShape, encoder
from advisor.zoo.kinds.t5 import RELATIVE_BUCKETS, T5Shape, WhisperShape, t5, whisper
from advisor.zoo.kinds.vision_transformer import VisionShape, vision_transformer
from advisor.zoo.layers.network import Feature, Network
from advisor.zoo.networks.convnext import convnext
from advisor.zoo.networks.residual import EXPANSION, resnet

LARGEST_SIDE: Final = 8192
IMAGENET_CLASSES: Final = 1000
MOST_BLOCKS: Final = 1000


def read_encoder(
    fields: Fields,
    label: str,
    *,
    segments: int,
    spare_positions: int = 0,
    next_sentence: bool = True,
) -> Architecture:
    """Read BERT or RoBERTa."""
    hidden = fields.count("hidden_size", "dim")
    heads = fields.count("num_attention_heads", "n_heads")
    rows = fields.count("max_position_embeddings", most=LARGEST_LENGTH, default=512)
    fields.require_heads(hidden, heads)
    shape = EncoderShape(
        vocab=fields.count("vocab_size", most=LARGEST_VOCAB),
        hidden=hidden,
        layers=fields.count("num_hidden_layers", "n_layers", most=LARGEST_LAYERS),
        heads=heads,
        inner=fields.count("intermediate_size", "hidden_dim"),
        position_rows=rows,
        longest=max(1, rows - spare_positions),
        segment_rows=fields.count("type_vocab_size", default=segments, least=0),
        next_sentence=next_sentence,
    )
    fields.check()
    return encoder(shape, name=label, title=label)


def read_vision_transformer(fields: Fields, label: str) -> Architecture:
    """Read a ViT."""
    hidden = fields.count("hidden_size")
    heads = fields.count("num_attention_heads")
    side = fields.count("image_size", most=LARGEST_SIDE, default=224)
    patch = fields.count("patch_size", most=LARGEST_SIDE, default=16)
    fields.require_heads(hidden, heads)
    fields.require(side % patch == 0, f"{side} pixels cannot be cut into patches of {patch}")
    classes, assumptions = _classes(fields)
    shape = VisionShape(
        patch=patch,
        hidden=hidden,
        layers=fields.count("num_hidden_layers", most=LARGEST_LAYERS),
        heads=heads,
        inner=fields.count("intermediate_size", default=4 * hidden),
        side=side,
        classes=classes,
    )
    fields.check()
    return vision_transformer(shape, name=label, title=label, assumptions=assumptions)


def read_resnet(fields: Fields, label: str) -> Architecture:
    """Read a ResNet; ``hidden_sizes`` are the channels after a stage."""
    blocks = fields.counts("depths", (3, 4, 6, 3), most=MOST_BLOCKS)
    outer = fields.counts("hidden_sizes", (256, 512, 1024, 2048), most=LARGEST_WIDTH)
    bottleneck = fields.text("layer_type", "bottleneck", ("bottleneck", "basic")) == "bottleneck"
    stem = fields.count("embedding_size", default=64)
    fields.require(
        not bottleneck or all(width % EXPANSION == 0 for width in outer),
        f"“hidden_sizes” of bottleneck blocks must be multiples of {EXPANSION}",
    )
    _require_same_length(fields, blocks, outer)
    classes, assumptions = _classes(fields)
    fields.check()
    widths = tuple(width // EXPANSION for width in outer) if bottleneck else outer
    build = partial(
        resnet, blocks=blocks, bottleneck=bottleneck, widths=widths, stem=stem, classes=classes
    )
    return _conv_net(label, build, assumptions)


def read_convnext(fields: Fields, label: str) -> Architecture:
    """Read a ConvNeXt."""
    blocks = fields.counts("depths", (3, 3, 9, 3), most=MOST_BLOCKS)
    widths = fields.counts("hidden_sizes", (96, 192, 384, 768), most=LARGEST_WIDTH)
    _require_same_length(fields, blocks, widths)
    classes, assumptions = _classes(fields)
    fields.check()
    build = partial(convnext, blocks=blocks, widths=widths, classes=classes)
    return _conv_net(label, build, assumptions)


def read_t5(fields: Fields, label: str) -> Architecture:
    """Read T5, also version 1.1 with its gated layers."""
    layers = fields.count("num_layers", "num_hidden_layers", most=LARGEST_LAYERS)
    kinds = ("relu", "gelu", "gated-gelu", "gated-silu")
    shape = T5Shape(
        vocab=fields.count("vocab_size", most=LARGEST_VOCAB),
        hidden=fields.count("d_model"),
        heads=fields.count("num_heads"),
        head_dim=fields.count("d_kv"),
        inner=fields.count("d_ff"),
        encoder_layers=layers,
        decoder_layers=fields.count("num_decoder_layers", most=LARGEST_LAYERS, default=layers),
        gated=fields.text("feed_forward_proj", "relu", kinds).startswith("gated"),
        tied=fields.flag("tie_word_embeddings", default=True),
        buckets=fields.count("relative_attention_num_buckets", default=RELATIVE_BUCKETS),
    )
    fields.check()
    return t5(shape, name=label, title=label)


def read_whisper(fields: Fields, label: str) -> Architecture:
    """Read Whisper."""
    hidden = fields.count("d_model")
    heads = fields.count("encoder_attention_heads")
    fields.require_heads(hidden, heads)
    shape = WhisperShape(
        hidden=hidden,
        heads=heads,
        encoder_layers=fields.count("encoder_layers", most=LARGEST_LAYERS),
        decoder_layers=fields.count("decoder_layers", most=LARGEST_LAYERS),
        inner=fields.count("encoder_ffn_dim"),
        vocab=fields.count("vocab_size", most=LARGEST_VOCAB),
        mel_bins=fields.count("num_mel_bins", default=80),
        audio_tokens=fields.count("max_source_positions", most=LARGEST_LENGTH, default=1500),
        text_tokens=fields.count("max_target_positions", most=LARGEST_LENGTH, default=448),
    )
    fields.check()
    return whisper(shape, name=label, title=label)


def _classes(fields: Fields) -> tuple[int, tuple[str, ...]]:
    """Return the classes that the labels tell, or those of ImageNet with a note."""
    classes = fields.length("id2label")
    if classes:
        return classes, ()
    return IMAGENET_CLASSES, (f"a classifier of {IMAGENET_CLASSES} classes",)


def _conv_net(
    label: str, build: Callable[[Network, Feature], Feature], assumptions: tuple[str, ...]
) -> ConvNet:
    return ConvNet(
        name=label,
        title=label,
        family="cnn",
        default_sample_size=224,
        assumptions=assumptions,
        build=build,
    )


def _require_same_length(fields: Fields, blocks: tuple[int, ...], widths: tuple[int, ...]) -> None:
    fields.require(
        len(blocks) == len(widths), "“depths” and “hidden_sizes” must have the same length"
    )


OTHERS: Final[dict[str, Callable[[Fields, str], Architecture]]] = {
    "bert": partial(read_encoder, segments=2),
    "roberta": partial(read_encoder, segments=1, spare_positions=2, next_sentence=False),
    "distilbert": partial(read_encoder, segments=0, next_sentence=False),
    "vit": read_vision_transformer,
    "resnet": read_resnet,
    "convnext": read_convnext,
    "t5": read_t5,
    "mt5": read_t5,
    "whisper": read_whisper,
}
