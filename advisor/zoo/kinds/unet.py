"""UNets of latent diffusion: Stable Diffusion and SDXL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from advisor.domain import Model
from advisor.zoo.base import LARGEST_IMAGE_SIDE, Architecture
from advisor.zoo.kinds.diffusion import LATENT_FACTOR
from advisor.zoo.kinds.vision_transformer import check_divisible
from advisor.zoo.layers.attention import Attention
from advisor.zoo.layers.block import Block
from advisor.zoo.layers.feed_forward import FeedForward
from advisor.zoo.layers.network import Feature, Network

LATENT_CHANNELS: Final = 4
BLOCKS_PER_LEVEL: Final = 2
TIME_EXPANSION: Final = 4
"""The time embedding is four times as wide as the first level."""
FEED_FORWARD_RATIO: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class UNet(Architecture):
    """A UNet with attention to text (Rombach et al. 2021, arXiv 2112.10752).

    The autoencoder and the text encoders are not trained and not counted. There are no equal
    layers to cut, so the model has no heads and no hidden width; what crosses from one layer to
    the next is the largest output of a convolution.

    Parameters
    ----------
    widths : tuple of int
        Channels of the levels, from fine to coarse.
    depths : tuple of int
        Transformer blocks behind each residual block of a level; 0: no attention.
    middle_depth : int
        Transformer blocks in the middle.
    head_dims : tuple of int
        Width of the attention heads of each level.
    text_tokens, text_width : int
        Length and width of the text that is attended to.
    condition_width : int
        Width of a further vector that joins the time embedding (SDXL); 0: none.
    """

    widths: tuple[int, ...]
    depths: tuple[int, ...]
    middle_depth: int
    head_dims: tuple[int, ...]
    text_width: int
    text_tokens: int = 77
    condition_width: int = 0

    sample_unit: ClassVar[str] = "image"
    size_word: ClassVar[str] = "image side"
    absurd_size: ClassVar[int] = LARGEST_IMAGE_SIDE

    @property
    def params(self) -> int:
        """Weights, biases and normalisation vectors of all layers."""
        return self._count(self.default_sample_size).params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of the linear layers inside transformer blocks."""
        return self._count(self.default_sample_size).adapter_dimensions

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at an image side."""
        side = self.checked_sample_size(sample_size)
        check_divisible(side, LATENT_FACTOR << (len(self.widths) - 1), self.title)
        network = self._count(side)
        return Model.make(
            name=self.name,
            family=self.family,
            params=network.params,
            active_params=network.params,
            layers=network.layers,
            hidden=0,
            heads=0,
            kv_heads=0,
            vocab=0,
            tokens_per_sample=1,
            resolution=side,
            forward_flops_per_sample=network.flops,
            attention_flops_per_sample=network.attention_flops,
            activation_elements_per_sample=network.kept,
            attention_elements_per_sample=network.score_elements,
            boundary_elements_per_sample=network.largest,
            source=self.source,
        )

    def _count(self, side: int) -> Network:
        """Return the totals of all layers for an image of `side` pixels."""
        net = Network()
        time = self._time_embedding(net)
        x = net.conv(Feature(LATENT_CHANNELS, side // LATENT_FACTOR), self.widths[0], 3, bias=True)
        skips = [x]
        for level, width in enumerate(self.widths):
            for _ in range(BLOCKS_PER_LEVEL):
                x = self._level_block(net, x, width, time, level)
                skips.append(x)
            if level < len(self.widths) - 1:
                x = net.conv(x, width, 3, 2, bias=True)
                skips.append(x)
        x = _residual_block(net, x, self.widths[-1], time)
        x = self._transformer(net, x, len(self.widths) - 1, self.middle_depth)
        x = _residual_block(net, x, self.widths[-1], time)
        for level in reversed(range(len(self.widths))):
            for _ in range(BLOCKS_PER_LEVEL + 1):
                joined = net.concatenate(x, skips.pop())
                x = self._level_block(net, joined, self.widths[level], time, level)
            if level:
                x = net.conv(net.resize(x, 2 * x.side), self.widths[level], 3, bias=True)
        net.conv(net.smooth(net.norm(x)), LATENT_CHANNELS, 3, bias=True)
        return net

    def _time_embedding(self, net: Network) -> Feature:
        """Add two linear layers for the diffusion time, and two for the further condition."""
        width = TIME_EXPANSION * self.widths[0]
        time = net.linear(net.smooth(net.linear(Feature(self.widths[0], 1), width)), width)
        if self.condition_width:
            condition = Feature(self.condition_width, 1)
            time = net.add(time, net.linear(net.smooth(net.linear(condition, width)), width))
        return net.smooth(time)

    def _level_block(
        self, net: Network, x: Feature, width: int, time: Feature, level: int
    ) -> Feature:
        x = _residual_block(net, x, width, time)
        return self._transformer(net, x, level, self.depths[level]) if self.depths[level] else x

    def _transformer(self, net: Network, x: Feature, level: int, depth: int) -> Feature:
        """Add transformer blocks between two linear layers, with a shortcut."""
        block = text_block(x.channels, self.head_dims[level], self.text_width)
        y = net.linear_each(net.norm(x), x.channels)
        y = net.transformer(y, block, depth, self.text_tokens)
        return net.add(x, net.linear_each(y, x.channels))


def text_block(width: int, head_dim: int, text_width: int) -> Block:
    """Return a transformer block with attention to text and a gated feed-forward layer."""
    heads = width // head_dim
    own = Attention(hidden=width, heads=heads, kv_heads=heads, head_dim=head_dim, out_bias=True)
    to_text = Attention(
        hidden=width,
        heads=heads,
        kv_heads=heads,
        head_dim=head_dim,
        out_bias=True,
        context_hidden=text_width,
    )
    feed_forward = FeedForward(
        hidden=width, inner=FEED_FORWARD_RATIO * width, gated=True, bias=True
    )
    return Block(
        attention=own, feed_forward=feed_forward, cross_attention=to_text, norms=3, norm_vectors=2
    )


def _residual_block(net: Network, x: Feature, width: int, time: Feature) -> Feature:
    """Add two 3 × 3 convolutions, the time between them, and a shortcut."""
    y = net.conv(net.smooth(net.norm(x)), width, 3, bias=True)
    net.linear(time, width)  # its output is added to all positions of y
    y = net.conv(net.smooth(net.norm(y)), width, 3, bias=True)
    around = x if x.channels == width else net.linear_each(x, width)
    return net.add(y, around)
