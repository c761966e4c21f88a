"""Image classifiers for ImageNet: vision transformers and ResNets."""

from __future__ import annotations

from functools import partial

from advisor.zoo.convnet import ConvNet
from advisor.zoo.residual import resnet
from advisor.zoo.tables.datasets import IMAGENET
from advisor.zoo.vision_transformer import vision_transformer

VIT_SOURCE = "Dosovitskiy et al. 2020, arXiv 2010.11929, table 1; parameters: torchvision"

VISION_TRANSFORMERS = tuple(
    vision_transformer(
        name=name,
        title=title,
        patch=patch,
        hidden=hidden,
        layers=layers,
        heads=heads,
        published_params=published,
        source=source,
        aliases=aliases,
        dataset=IMAGENET,
    )
    for name, title, patch, hidden, layers, heads, published, source, aliases in (
        (
            "vit-s-16",
            "ViT-S/16",
            16,
            384,
            12,
            6,
            22_050_664,
            "Touvron et al. 2020, arXiv 2012.12877, table 1; parameters: timm",
            ("vit-small", "vit-small-patch16-224", "deit-small"),
        ),
        (
            "vit-b-16",
            "ViT-B/16",
            16,
            768,
            12,
            12,
            86_567_656,
            VIT_SOURCE,
            ("vit-base", "vit-base-patch16-224"),
        ),
        (
            "vit-l-16",
            "ViT-L/16",
            16,
            1024,
            24,
            16,
            304_326_632,
            VIT_SOURCE,
            ("vit-large", "vit-large-patch16-224"),
        ),
        ("vit-h-14", "ViT-H/14", 14, 1280, 32, 16, 632_045_800, VIT_SOURCE, ("vit-huge",)),
    )
)

RESNETS = tuple(
    ConvNet(
        name=name,
        title=title,
        family="cnn",
        default_sample_size=224,
        published_params=published,
        source="He et al. 2015, arXiv 1512.03385, table 1; parameters: torchvision",
        dataset=IMAGENET,
        build=partial(resnet, blocks=blocks, bottleneck=bottleneck),
    )
    for name, title, blocks, bottleneck, published in (
        ("resnet-18", "ResNet-18", (2, 2, 2, 2), False, 11_689_512),
        ("resnet-34", "ResNet-34", (3, 4, 6, 3), False, 21_797_672),
        ("resnet-50", "ResNet-50", (3, 4, 6, 3), True, 25_557_032),
        ("resnet-101", "ResNet-101", (3, 4, 23, 3), True, 44_549_160),
        ("resnet-152", "ResNet-152", (3, 8, 36, 3), True, 60_192_808),
    )
)

MODELS = VISION_TRANSFORMERS + RESNETS
