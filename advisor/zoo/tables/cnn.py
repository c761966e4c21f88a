"""Convolutional image classifiers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.zoo.kinds.convnet import ConvNet
from advisor.zoo.networks.convnext import convnext
from advisor.zoo.networks.densenet import densenet
from advisor.zoo.networks.mobile import efficientnet, mobilenet_v2
from advisor.zoo.networks.residual import resnet
from advisor.zoo.networks.vgg import alexnet, vgg
from advisor.zoo.tables.datasets import CIFAR_10, IMAGENET

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.zoo.layers.network import Feature, Network


def _imagenet(
    name: str,
    title: str,
    published_params: int,
    paper: str,
    build: Callable[[Network, Feature], Feature],
    *,
    side: int = 224,
    aliases: tuple[str, ...] = (),
) -> ConvNet:
    """Return a classifier of ImageNet-1k; the published counts are those of torchvision."""
    return ConvNet(
        name=name,
        title=title,
        family="cnn",
        default_sample_size=side,
        published_params=published_params,
        source=f"{paper}; parameters: torchvision model documentation",
        aliases=aliases,
        dataset=IMAGENET,
        build=build,
    )


RESNET_PAPER = "He et al. 2015, arXiv 1512.03385, table 1"
RESNEXT_PAPER = "Xie et al. 2016, arXiv 1611.05431"
WIDE_PAPER = "Zagoruyko and Komodakis 2016, arXiv 1605.07146"
VGG_PAPER = "Simonyan and Zisserman 2014, arXiv 1409.1556, table 1"
DENSENET_PAPER = "Huang et al. 2016, arXiv 1608.06993, table 1"
CONVNEXT_PAPER = "Liu et al. 2022, arXiv 2201.03545, table 9"
EFFICIENTNET_PAPER = "Tan and Le 2019, arXiv 1905.11946"

RESNETS = tuple(
    _imagenet(
        name,
        title,
        published,
        RESNET_PAPER,
        partial(resnet, blocks=blocks, bottleneck=bottleneck),
        aliases=aliases,
    )
    for name, title, blocks, bottleneck, published, aliases in (
        ("resnet-18", "ResNet-18", (2, 2, 2, 2), False, 11_689_512, ()),
        ("resnet-34", "ResNet-34", (3, 4, 6, 3), False, 21_797_672, ()),
        ("resnet-50", "ResNet-50", (3, 4, 6, 3), True, 25_557_032, ("resnet50v1.5", "rn50")),
        ("resnet-101", "ResNet-101", (3, 4, 23, 3), True, 44_549_160, ()),
        ("resnet-152", "ResNet-152", (3, 8, 36, 3), True, 60_192_808, ()),
    )
)
RELATIVES = tuple(
    _imagenet(
        name,
        title,
        published,
        paper,
        partial(resnet, blocks=blocks, bottleneck=True, groups=groups, group_width=group_width),
    )
    for name, title, paper, blocks, groups, group_width, published in (
        ("resnext-50-32x4d", "ResNeXt-50 32x4d", RESNEXT_PAPER, (3, 4, 6, 3), 32, 4, 25_028_904),
        ("resnext-101-32x8d", "ResNeXt-101 32x8d", RESNEXT_PAPER, (3, 4, 23, 3), 32, 8, 88_791_336),
        ("wide-resnet-50-2", "Wide ResNet-50-2", WIDE_PAPER, (3, 4, 6, 3), 1, 128, 68_883_240),
        ("wide-resnet-101-2", "Wide ResNet-101-2", WIDE_PAPER, (3, 4, 23, 3), 1, 128, 126_886_696),
    )
)
RESNET_CIFAR = ConvNet(
    name="resnet-18-cifar",
    title="ResNet-18 (CIFAR-10)",
    family="cnn",
    default_sample_size=32,
    published_params=11_173_962,
    source="He et al. 2015, arXiv 1512.03385, with 3 × 3 stem; parameters: kuangliu/pytorch-cifar",
    dataset=CIFAR_10,
    build=partial(resnet, blocks=(2, 2, 2, 2), bottleneck=False, classes=10, small_images=True),
)
VGGS = tuple(
    _imagenet(name, title, published, VGG_PAPER, partial(vgg, blocks=blocks, normalised=normalised))
    for name, title, blocks, normalised, published in (
        ("vgg-11", "VGG-11", (1, 1, 2, 2, 2), False, 132_863_336),
        ("vgg-13", "VGG-13", (2, 2, 2, 2, 2), False, 133_047_848),
        ("vgg-16", "VGG-16", (2, 2, 3, 3, 3), False, 138_357_544),
        ("vgg-19", "VGG-19", (2, 2, 4, 4, 4), False, 143_667_240),
        ("vgg-11-bn", "VGG-11 BN", (1, 1, 2, 2, 2), True, 132_868_840),
        ("vgg-13-bn", "VGG-13 BN", (2, 2, 2, 2, 2), True, 133_053_736),
        ("vgg-16-bn", "VGG-16 BN", (2, 2, 3, 3, 3), True, 138_365_992),
        ("vgg-19-bn", "VGG-19 BN", (2, 2, 4, 4, 4), True, 143_678_248),
    )
)
DENSENETS = tuple(
    _imagenet(
        name,
        title,
        published,
        DENSENET_PAPER,
        partial(densenet, growth=growth, blocks=blocks, stem=stem),
    )
    for name, title, growth, blocks, stem, published in (
        ("densenet-121", "DenseNet-121", 32, (6, 12, 24, 16), 64, 7_978_856),
        ("densenet-161", "DenseNet-161", 48, (6, 12, 36, 24), 96, 28_681_000),
        ("densenet-169", "DenseNet-169", 32, (6, 12, 32, 32), 64, 14_149_480),
        ("densenet-201", "DenseNet-201", 32, (6, 12, 48, 32), 64, 20_013_928),
    )
)
CONVNEXTS = tuple(
    _imagenet(
        name, title, published, CONVNEXT_PAPER, partial(convnext, blocks=blocks, widths=widths)
    )
    for name, title, blocks, widths, published in (
        ("convnext-tiny", "ConvNeXt-T", (3, 3, 9, 3), (96, 192, 384, 768), 28_589_128),
        ("convnext-small", "ConvNeXt-S", (3, 3, 27, 3), (96, 192, 384, 768), 50_223_688),
        ("convnext-base", "ConvNeXt-B", (3, 3, 27, 3), (128, 256, 512, 1024), 88_591_464),
        ("convnext-large", "ConvNeXt-L", (3, 3, 27, 3), (192, 384, 768, 1536), 197_767_336),
    )
)
MOBILE = (
    _imagenet(
        "mobilenet-v2",
        "MobileNetV2",
        3_504_872,
        "Sandler et al. 2018, arXiv 1801.04381, table 2",
        mobilenet_v2,
    ),
    _imagenet("efficientnet-b0", "EfficientNet-B0", 5_288_548, EFFICIENTNET_PAPER, efficientnet),
    _imagenet(
        "efficientnet-b4",
        "EfficientNet-B4",
        19_341_616,
        EFFICIENTNET_PAPER,
        partial(efficientnet, width=1.4, depth=1.8),
        side=380,
    ),
)
ALEXNET = _imagenet("alexnet", "AlexNet", 61_100_840, "Krizhevsky 2014, arXiv 1404.5997", alexnet)

MODELS = (*RESNETS, *RELATIVES, RESNET_CIFAR, *VGGS, *DENSENETS, *CONVNEXTS, *MOBILE, ALEXNET)
