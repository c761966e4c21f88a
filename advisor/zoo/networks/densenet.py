"""DenseNet (Huang et al. 2016, arXiv 1608.06993)."""

from __future__ import annotations

from advisor.zoo.layers.network import Feature, Network
from advisor.zoo.networks.residual import conv_norm

BOTTLENECK = 4


def densenet(
    net: Network,
    x: Feature,
    *,
    growth: int,
    blocks: tuple[int, ...],
    stem: int,
    classes: int = 1000,
) -> Feature:
    """Add a DenseNet: every layer reads what all layers before it have put out.

    Parameters
    ----------
    net, x
        The counter and the image.
    growth : int
        Channels that each layer adds.
    blocks : tuple of int
        Layers in each dense block.
    stem : int
        Channels of the first convolution.
    classes : int
        Classes to tell apart.
    """
    x = net.pool(net.relu(conv_norm(net, x, stem, 7, 2)), 3, 2)
    for index, layers in enumerate(blocks):
        if index:
            x = net.conv(net.relu(net.norm(x)), x.channels // 2, 1)
            x = net.pool(x, 2, 2, padding=0)
        for _ in range(layers):
            y = net.conv(net.relu(net.norm(x)), BOTTLENECK * growth, 1)
            y = net.conv(net.relu(net.norm(y)), growth, 3)
            x = net.concatenate(x, y)
    return net.linear(net.resize(net.relu(net.norm(x)), 1), classes)
