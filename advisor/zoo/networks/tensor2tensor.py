"""The CNNs of CM-DARE (Li et al. 2020, arXiv 2004.03072), as Tensor2Tensor builds them.

Their parameter and tensor counts, measured with the TensorFlow profiler, follow exactly from
``models/resnet.py`` and ``models/shake_shake.py`` of Tensor2Tensor with the dimensions given in
`advisor.zoo.tables.cm_dare`.
"""

from __future__ import annotations

from advisor.zoo.layers.network import Feature, Network

STEM = 16
CLASSES = 10
STAGES = 3
BRANCHES = 2


def pre_norm_resnet(
    net: Network, x: Feature, *, blocks: tuple[int, ...], widths: tuple[int, ...] = (32, 64, 128)
) -> Feature:
    """Add a ResNet with normalisation before its convolutions (He et al. 2016, 1603.05027).

    The first block of every stage has a projection on its shortcut, also where the shape stays.
    The 7 × 7 stem keeps the side of the small images; there is no pooling behind it.

    Parameters
    ----------
    net, x
        The counter and the image.
    blocks, widths : tuple of int
        Blocks and channels of the stages.
    """
    x = net.relu(net.norm(net.conv(x, STEM, 7)))
    for stage, (width, repeats) in enumerate(zip(widths, blocks, strict=True)):
        for index in range(repeats):
            stride = 2 if stage and not index else 1
            x = _pre_norm_block(net, x, width, stride, project=index == 0)
    return net.linear(net.resize(x, 1), CLASSES)


def _pre_norm_block(net: Network, x: Feature, width: int, stride: int, *, project: bool) -> Feature:
    """Add two 3 × 3 convolutions behind normalisation and ReLU, and the shortcut."""
    inputs = net.relu(net.norm(x))
    around = net.norm(net.conv(inputs, width, 1, stride)) if project else x
    y = net.conv(inputs, width, 3, stride)
    y = net.conv(net.relu(net.norm(y)), width, 3)
    return net.add(y, around)


def shake_shake(net: Network, x: Feature, *, width: int, depth: int) -> Feature:
    """Add a Shake-Shake network (Gastaldi 2017, arXiv 1705.07485).

    Parameters
    ----------
    net, x
        The counter and the image.
    width : int
        Channels of the first stage; each further one has twice as many.
    depth : int
        Layers on the way from image to classes: two per block and two at the ends.
    """
    x = net.norm(net.conv(x, STEM, 3, bias=True))
    for stage in range(STAGES):
        for index in range((depth - 2) // (2 * STAGES)):
            x = _shaken_block(net, x, width << stage, stride=2 if stage and not index else 1)
    return net.linear(net.resize(net.relu(x), 1), CLASSES)


def _shaken_block(net: Network, x: Feature, width: int, stride: int) -> Feature:
    """Add parallel branches whose outputs are added with random weights."""
    y = _branch(net, x, width, stride)
    for _ in range(BRANCHES - 1):
        y = net.add(y, _branch(net, x, width, stride))
    return net.add(y, x if x.channels == width else _halved_shortcut(net, x, width, stride))


def _branch(net: Network, x: Feature, width: int, stride: int) -> Feature:
    y = net.norm(net.conv(net.relu(x), width, 3, stride, bias=True))
    return net.norm(net.conv(net.relu(y), width, 3, bias=True))


def _halved_shortcut(net: Network, x: Feature, width: int, stride: int) -> Feature:
    """Add two 1 × 1 convolutions, each to half of the channels, on shifted samples of `x`."""
    y = net.relu(x)
    halves = (net.conv(net.pool(y, 1, stride), width // 2, 1, bias=True) for _ in range(2))
    return net.norm(net.concatenate(*halves))
