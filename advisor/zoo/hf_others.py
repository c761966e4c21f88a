"""Read configurations of models that are no decoders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from advisor.zoo.base import Architecture
from advisor.zoo.convnet import ConvNet
from advisor.zoo.encoder import EncoderShape, encoder
from advisor.zoo.hf_fields import LARGEST_LAYERS, LARGEST_LENGTH, LARGEST_VOCAB, Fields
from advisor.zoo.residual import resnet
from advisor.zoo.vision_transformer import vision_transformer

LARGEST_SIDE: Final = 8192


def read_encoder(
    fields: Fields, label: str, *, spare_positions: int = 0, next_sentence: bool = True
) -> Architecture:
    """Read BERT or RoBERTa."""
    hidden = fields.count("hidden_size", "dim")
    heads = fields.count("num_attention_heads", "n_heads")
    rows = fields.count("max_position_embeddings", most=LARGEST_LENGTH, default=512)
    fields.require(
        hidden % heads == 0, f"a width of {hidden} cannot be divided among {heads} heads"
    )
    shape = EncoderShape(
        vocab=fields.count("vocab_size", most=LARGEST_VOCAB),
        hidden=hidden,
        layers=fields.count("num_hidden_layers", "n_layers", most=LARGEST_LAYERS),
        heads=heads,
        inner=fields.count("intermediate_size", "hidden_dim"),
        position_rows=rows,
        longest=max(1, rows - spare_positions),
        segment_rows=fields.count("type_vocab_size", default=0, least=0),
        next_sentence=next_sentence,
    )
    fields.check()
    return encoder(shape, name=label, title=label)


def read_vision_transformer(fields: Fields, label: str) -> Architecture:
    """Read a ViT; classes come from ``id2label`` rarely, so 1000 are assumed."""
    hidden = fields.count("hidden_size")
    heads = fields.count("num_attention_heads")
    side = fields.count("image_size", most=LARGEST_SIDE, default=224)
    patch = fields.count("patch_size", most=LARGEST_SIDE, default=16)
    fields.require(
        hidden % heads == 0, f"a width of {hidden} cannot be divided among {heads} heads"
    )
    fields.require(side % patch == 0, f"{side} pixels cannot be cut into patches of {patch}")
    layers = fields.count("num_hidden_layers", most=LARGEST_LAYERS)
    inner = fields.count("intermediate_size", default=4 * hidden)
    classes = fields.count("num_labels", default=1000)
    fields.check()
    return vision_transformer(
        name=label,
        title=label,
        patch=patch,
        hidden=hidden,
        layers=layers,
        heads=heads,
        inner=inner,
        side=side,
        classes=classes,
        assumptions=(f"a classifier of {classes} classes",),
    )


def read_resnet(fields: Fields, label: str) -> Architecture:
    """Read a ResNet; ``hidden_sizes`` are the channels after a stage."""
    blocks = fields.counts("depths", (3, 4, 6, 3))
    outer = fields.counts("hidden_sizes", (256, 512, 1024, 2048))
    bottleneck = fields.text("layer_type", "bottleneck", ("bottleneck", "basic")) == "bottleneck"
    stem = fields.count("embedding_size", default=64)
    fields.require(
        len(blocks) == len(outer), "“depths” and “hidden_sizes” must have the same length"
    )
    fields.check()
    widths = tuple(width // 4 for width in outer) if bottleneck else outer
    return ConvNet(
        name=label,
        title=label,
        family="cnn",
        default_sample_size=224,
        assumptions=("a classifier of 1000 classes",),
        build=partial(resnet, blocks=blocks, bottleneck=bottleneck, widths=widths, stem=stem),
    )


OTHERS: Final[dict[str, Callable[[Fields, str], Architecture]]] = {
    "bert": read_encoder,
    "roberta": partial(read_encoder, spare_positions=2, next_sentence=False),
    "distilbert": partial(read_encoder, next_sentence=False),
    "vit": read_vision_transformer,
    "resnet": read_resnet,
}
