"""YOLOv5, the detector of ultralytics/yolov5 (version 6: models/yolov5*.yaml, models/common.py)."""

from __future__ import annotations

from typing import Final

from advisor.zoo.layers.network import Feature, Network
from advisor.zoo.networks.residual import conv_norm

CHANNEL_STEP: Final = 8
STAGES: Final = ((128, 3), (256, 6), (512, 9), (1024, 3))
"""Channels and bottlenecks of the backbone's stages."""
NECK_BLOCKS: Final = 3
ANCHORS: Final = 3
BOX: Final = 5
"""Four sides and the chance of an object."""


def yolov5(net: Network, x: Feature, *, depth: float, width: float, classes: int = 80) -> Feature:
    """Add the network of a depth and a width multiple."""

    def channels(full: int) -> int:
        return -(-int(full * width) // CHANNEL_STEP) * CHANNEL_STEP

    def blocks(full: int) -> int:
        return max(round(full * depth), 1)

    x = _conv(net, x, channels(64), 6, 2)
    scales = []
    for full, number in STAGES:
        x = _conv(net, x, channels(full), 3, 2)
        x = _cross_stage(net, x, channels(full), blocks(number), shortcut=True)
        scales.append(x)
    _, small, middle, _ = scales
    x = _pyramid_pooling(net, x, channels(1024))
    number = blocks(NECK_BLOCKS)
    top = _conv(net, x, channels(512), 1)
    x = net.concatenate(net.resize(top, middle.side), middle)
    x = _cross_stage(net, x, channels(512), number)
    inner = _conv(net, x, channels(256), 1)
    x = net.concatenate(net.resize(inner, small.side), small)
    outputs = [_cross_stage(net, x, channels(256), number)]
    for full, across in ((512, inner), (1024, top)):
        x = _conv(net, outputs[-1], channels(full // 2), 3, 2)
        x = net.concatenate(x, across)
        outputs.append(_cross_stage(net, x, channels(full), number))
    for output in outputs:
        x = net.conv(output, ANCHORS * (classes + BOX), 1, bias=True)
    return x


def _conv(net: Network, x: Feature, channels: int, kernel: int, stride: int = 1) -> Feature:
    return net.smooth(conv_norm(net, x, channels, kernel, stride))


def _cross_stage(
    net: Network, x: Feature, channels: int, blocks: int, *, shortcut: bool = False
) -> Feature:
    """Add a cross-stage partial block of three convolutions (C3)."""
    inner = channels // 2
    y = _conv(net, x, inner, 1)
    for _ in range(blocks):
        z = _conv(net, _conv(net, y, inner, 1), inner, 3)
        y = net.add(y, z) if shortcut else z
    aside = _conv(net, x, inner, 1)
    return _conv(net, net.concatenate(y, aside), channels, 1)


def _pyramid_pooling(net: Network, x: Feature, channels: int) -> Feature:
    """Add three poolings of 5 × 5 one after the other, joined with what goes in (SPPF)."""
    parts = [_conv(net, x, x.channels // 2, 1)]
    parts += [net.pool(parts[0], 5, 1) for _ in range(3)]
    return _conv(net, net.concatenate(*parts), channels, 1)
