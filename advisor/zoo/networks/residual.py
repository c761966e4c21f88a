"""ResNets and their relatives (He et al. 2015, arXiv 1512.03385)."""

from __future__ import annotations

from advisor.zoo.layers.network import Feature, Network

EXPANSION = 4
"""A bottleneck block puts out four times its inner channels."""


def conv_norm(
    net: Network, x: Feature, channels: int, kernel: int, stride: int = 1, *, groups: int = 1
) -> Feature:
    """Add a convolution without bias and its batch normalisation."""
    return net.norm(net.conv(x, channels, kernel, stride, groups=groups))


def resnet(
    net: Network,
    x: Feature,
    *,
    blocks: tuple[int, ...],
    bottleneck: bool,
    groups: int = 1,
    group_width: int = 64,
    widths: tuple[int, ...] = (64, 128, 256, 512),
    stem: int = 64,
    classes: int = 1000,
    small_images: bool = False,
) -> Feature:
    """Add a ResNet, with the stride of a bottleneck in its 3 × 3 convolution ("v1.5").

    Parameters
    ----------
    net, x
        The counter and the image.
    blocks : tuple of int
        Blocks in each stage.
    bottleneck : bool
        Whether blocks are 1 × 1, 3 × 3, 1 × 1 rather than 3 × 3, 3 × 3.
    groups, group_width : int
        Groups of the 3 × 3 convolution and their width at 64 channels (ResNeXt, wide ResNet).
    widths : tuple of int
        Channels of the stages before expansion.
    stem : int
        Channels of the first convolution.
    classes : int
        Classes to tell apart.
    small_images : bool
        Whether a 3 × 3 convolution takes the place of the 7 × 7 one with pooling (CIFAR-10).
    """
    if small_images:
        x = net.relu(conv_norm(net, x, stem, 3))
    else:
        x = net.pool(net.relu(conv_norm(net, x, stem, 7, 2)), 3, 2)
    for stage, (width, repeats) in enumerate(zip(widths, blocks, strict=True)):
        for index in range(repeats):
            stride = 2 if stage and not index else 1
            if bottleneck:
                inner = width * groups * group_width // 64
                x = bottleneck_block(net, x, inner, EXPANSION * width, stride=stride, groups=groups)
            else:
                x = basic_block(net, x, width, stride)
    return net.linear(net.resize(x, 1), classes)


def basic_block(net: Network, x: Feature, width: int, stride: int) -> Feature:
    """Add two 3 × 3 convolutions with a shortcut."""
    y = net.relu(conv_norm(net, x, width, 3, stride))
    y = conv_norm(net, y, width, 3)
    return net.relu(net.add(y, shortcut(net, x, width, stride)))


def bottleneck_block(
    net: Network, x: Feature, inner: int, outer: int, *, stride: int, groups: int
) -> Feature:
    """Add 1 × 1, 3 × 3 and 1 × 1 convolutions with a shortcut."""
    y = net.relu(conv_norm(net, x, inner, 1))
    y = net.relu(conv_norm(net, y, inner, 3, stride, groups=groups))
    y = conv_norm(net, y, outer, 1)
    return net.relu(net.add(y, shortcut(net, x, outer, stride)))


def shortcut(net: Network, x: Feature, channels: int, stride: int) -> Feature:
    """Add the projection around a block where its shape changes."""
    if stride == 1 and x.channels == channels:
        return x
    return conv_norm(net, x, channels, 1, stride)
