"""ConvNeXt (Liu et al. 2022, arXiv 2201.03545)."""

from __future__ import annotations

from advisor.zoo.layers.network import Feature, Network

EXPANSION = 4
PATCH = 4


def convnext(
    net: Network,
    x: Feature,
    *,
    blocks: tuple[int, ...],
    widths: tuple[int, ...],
    classes: int = 1000,
) -> Feature:
    """Add a ConvNeXt.

    Parameters
    ----------
    net, x
        The counter and the image.
    blocks, widths : tuple of int
        Blocks and channels of the stages.
    classes : int
        Classes to tell apart.
    """
    x = net.norm(net.conv(x, widths[0], PATCH, PATCH, bias=True, padding=0))
    for stage, (width, repeats) in enumerate(zip(widths, blocks, strict=True)):
        if stage:
            x = net.conv(net.norm(x), width, 2, 2, bias=True, padding=0)
        for _ in range(repeats):
            x = _block(net, x)
    return net.linear(net.norm(net.resize(x, 1)), classes)


def _block(net: Network, x: Feature) -> Feature:
    """Add a depthwise 7 × 7 convolution and a feed-forward layer with layer scale."""
    y = net.norm(net.conv(x, x.channels, 7, groups=x.channels, bias=True))
    y = net.smooth(net.linear_each(y, EXPANSION * x.channels))
    return net.add(x, net.scale(net.linear_each(y, x.channels)))
