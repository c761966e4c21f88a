"""Networks without shortcuts: VGG and AlexNet."""

from __future__ import annotations

from advisor.zoo.layers.network import Feature, Network

VGG_WIDTHS = (64, 128, 256, 512, 512)
CLASSIFIER = (4096, 4096)


def vgg(
    net: Network,
    x: Feature,
    *,
    blocks: tuple[int, ...],
    normalised: bool = False,
    classes: int = 1000,
) -> Feature:
    """Add a VGG (Simonyan and Zisserman 2014, arXiv 1409.1556, table 1).

    Parameters
    ----------
    net, x
        The counter and the image.
    blocks : tuple of int
        Convolutions before each pooling.
    normalised : bool
        Whether batch normalisation follows each convolution.
    classes : int
        Classes to tell apart.
    """
    for width, repeats in zip(VGG_WIDTHS, blocks, strict=True):
        for _ in range(repeats):
            x = net.conv(x, width, 3, bias=True)
            x = net.relu(net.norm(x) if normalised else x)
        x = net.pool(x, 2, 2)
    return _classifier(net, net.resize(x, 7), classes)


def alexnet(net: Network, x: Feature, *, classes: int = 1000) -> Feature:
    """Add AlexNet in its one-column form (Krizhevsky 2014, arXiv 1404.5997)."""
    x = net.relu(net.conv(x, 64, 11, 4, bias=True, padding=2))
    x = net.relu(net.conv(net.pool(x, 3, 2, padding=0), 192, 5, bias=True))
    x = net.pool(x, 3, 2, padding=0)
    for width in (384, 256, 256):
        x = net.relu(net.conv(x, width, 3, bias=True))
    return _classifier(net, net.resize(net.pool(x, 3, 2, padding=0), 6), classes)


def _classifier(net: Network, x: Feature, classes: int) -> Feature:
    for width in CLASSIFIER:
        x = net.relu(net.linear(x, width))
    return net.linear(x, classes)
