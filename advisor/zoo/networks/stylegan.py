"""StyleGAN2, generator and discriminator (Karras et al. 2020, arXiv 1912.04958 and 2006.06676).

Widths and depths as in the configuration “auto” of NVlabs/stylegan2-ada-pytorch
(training/networks.py). The strengths of the noise, one number per layer, are not counted.
"""

from __future__ import annotations

from typing import Final

from advisor.zoo.layers.network import Feature, Network

STYLE: Final = 512
MAPPING_LAYERS: Final = 2
WIDEST: Final = 512
CHANNELS: Final = 32_768
"""Channels times side from 512 pixels on; half as many below."""
WHOLE_WIDTH_SIDE: Final = 512
FIRST_SIDE: Final = 4
COLOURS: Final = 3


def channels_of(side: int, image_side: int) -> int:
    """Return the channels of a layer at `side` in a network for images of `image_side`.

    >>> channels_of(4, 1024), channels_of(1024, 1024), channels_of(256, 256)
    (512, 32, 64)
    """
    total = CHANNELS if image_side >= WHOLE_WIDTH_SIDE else CHANNELS // 2
    return min(total // side, WIDEST)


def generator(net: Network, image_side: int) -> Feature:
    """Add the generator: from noise to an image."""
    style = Feature(STYLE, 1)
    for _ in range(MAPPING_LAYERS):
        style = net.relu(net.linear(style, STYLE))
    constant = Feature(channels_of(FIRST_SIDE, image_side), FIRST_SIDE)
    net.params += constant.elements
    x = _styled(net, constant, style, constant.channels, 3)
    side = FIRST_SIDE
    _styled(net, x, style, COLOURS, 1)
    while side < image_side:
        side *= 2
        width = channels_of(side, image_side)
        x = net.resize(_styled(net, x, style, width, 3), side)
        x = _styled(net, x, style, width, 3)
        _styled(net, x, style, COLOURS, 1)
    return Feature(COLOURS, side)


def _styled(net: Network, x: Feature, style: Feature, channels: int, kernel: int) -> Feature:
    """Add a convolution whose weights the style scales."""
    net.linear(style, x.channels)
    y = net.conv(x, channels, kernel, bias=True)
    return net.relu(y) if kernel > 1 else y


def discriminator(net: Network, image: Feature) -> Feature:
    """Add the discriminator: residual blocks down to one number."""
    side = image.side
    x = net.relu(net.conv(image, channels_of(side, side), 1, bias=True))
    while x.side > FIRST_SIDE:
        width = channels_of(x.side // 2, side)
        aside = net.conv(net.pool(x, 2, 2, 0), width, 1)
        y = net.relu(net.conv(x, x.channels, 3, bias=True))
        y = net.relu(net.conv(y, width, 3, 2, bias=True))
        x = net.add(y, aside)
    x = net.concatenate(x, Feature(1, x.side))  # how much a batch varies
    x = net.relu(net.conv(x, WIDEST, 3, bias=True))
    x = net.relu(net.linear(x, WIDEST))
    return net.linear(x, 1)
