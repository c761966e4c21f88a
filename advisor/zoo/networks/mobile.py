"""Networks of depthwise convolutions: MobileNetV2 and EfficientNet."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from advisor.zoo.layers.network import Feature, Network
from advisor.zoo.networks.residual import conv_norm


class Stage(NamedTuple):
    """Equal blocks; the first has the stride."""

    expansion: int
    kernel: int
    channels: int
    blocks: int
    stride: int


MOBILENET_V2: Final = (
    Stage(1, 3, 16, 1, 1),
    Stage(6, 3, 24, 2, 2),
    Stage(6, 3, 32, 3, 2),
    Stage(6, 3, 64, 4, 2),
    Stage(6, 3, 96, 3, 1),
    Stage(6, 3, 160, 3, 2),
    Stage(6, 3, 320, 1, 1),
)
EFFICIENTNET: Final = (
    Stage(1, 3, 16, 1, 1),
    Stage(6, 3, 24, 2, 2),
    Stage(6, 5, 40, 2, 2),
    Stage(6, 3, 80, 3, 2),
    Stage(6, 5, 112, 3, 1),
    Stage(6, 5, 192, 4, 2),
    Stage(6, 3, 320, 1, 1),
)
STEM: Final = 32
LAST: Final = 1280
CHANNEL_STEP: Final = 8
SQUEEZE: Final = 4
LARGEST_ROUNDING: Final = 0.9


def mobilenet_v2(net: Network, x: Feature, *, classes: int = 1000) -> Feature:
    """Add MobileNetV2 (Sandler et al. 2018, arXiv 1801.04381, table 2)."""
    x = net.relu(conv_norm(net, x, STEM, 3, 2))
    for stage in MOBILENET_V2:
        for index in range(stage.blocks):
            x = _inverted_block(net, x, stage, stage.stride if index == 0 else 1)
    x = net.relu(conv_norm(net, x, LAST, 1))
    return net.linear(net.resize(x, 1), classes)


def _inverted_block(net: Network, x: Feature, stage: Stage, stride: int) -> Feature:
    inner = x.channels * stage.expansion
    y = net.relu(conv_norm(net, x, inner, 1)) if stage.expansion > 1 else x
    y = net.relu(conv_norm(net, y, inner, stage.kernel, stride, groups=inner))
    y = conv_norm(net, y, stage.channels, 1)
    return net.add(x, y) if (x.channels, x.side) == (y.channels, y.side) else y


def efficientnet(
    net: Network, x: Feature, *, width: float = 1.0, depth: float = 1.0, classes: int = 1000
) -> Feature:
    """Add an EfficientNet (Tan and Le 2019, arXiv 1905.11946, table 1).

    Parameters
    ----------
    net, x
        The counter and the image.
    width, depth : float
        Factors on the channels and blocks of B0.
    classes : int
        Classes to tell apart.
    """
    x = net.smooth(conv_norm(net, x, _scaled(STEM, width), 3, 2))
    for stage in EFFICIENTNET:
        scaled = stage._replace(channels=_scaled(stage.channels, width))
        for index in range(math.ceil(stage.blocks * depth)):
            x = _squeezed_block(net, x, scaled, stage.stride if index == 0 else 1)
    x = net.smooth(conv_norm(net, x, _scaled(LAST, width), 1))
    return net.linear(net.resize(x, 1), classes)


def _squeezed_block(net: Network, x: Feature, stage: Stage, stride: int) -> Feature:
    """Add an inverted block with squeeze and excitation."""
    inner = x.channels * stage.expansion
    y = net.smooth(conv_norm(net, x, inner, 1)) if stage.expansion > 1 else x
    y = net.smooth(conv_norm(net, y, inner, stage.kernel, stride, groups=inner))
    squeezed = net.linear_each(net.resize(y, 1), max(1, x.channels // SQUEEZE))
    gate = net.smooth(net.linear_each(net.smooth(squeezed), inner))
    y = conv_norm(net, net.multiply(y, gate), stage.channels, 1)
    return net.add(x, y) if (x.channels, x.side) == (y.channels, y.side) else y


def _scaled(channels: int, factor: float) -> int:
    """Return scaled channels as a multiple of 8, not below 90 % of the exact number."""
    exact = channels * factor
    rounded = max(CHANNEL_STEP, int(exact + CHANNEL_STEP / 2) // CHANNEL_STEP * CHANNEL_STEP)
    return rounded if rounded >= LARGEST_ROUNDING * exact else rounded + CHANNEL_STEP
