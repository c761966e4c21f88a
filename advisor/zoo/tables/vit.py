"""Vision transformers for ImageNet."""

from __future__ import annotations

from advisor.zoo.kinds.vision_transformer import VisionShape, vision_transformer
from advisor.zoo.tables.datasets import IMAGENET

VIT_SOURCE = "Dosovitskiy et al. 2020, arXiv 2010.11929, table 1; parameters: torchvision"

SMALL_SOURCE = "Touvron et al. 2020, arXiv 2012.12877, table 1; parameters: timm"

MODELS = tuple(
    vision_transformer(
        VisionShape(patch=patch, hidden=hidden, layers=layers, heads=heads, inner=4 * hidden),
        name=name,
        title=title,
        published_params=published,
        source=source,
        aliases=aliases,
        dataset=IMAGENET,
    )
    for name, title, (patch, hidden, layers, heads), published, source, aliases in (
        (
            "vit-s-16",
            "ViT-S/16",
            (16, 384, 12, 6),
            22_050_664,
            SMALL_SOURCE,
            ("vit-small", "vit-small-patch16-224", "deit-small"),
        ),
        (
            "vit-b-16",
            "ViT-B/16",
            (16, 768, 12, 12),
            86_567_656,
            VIT_SOURCE,
            ("vit-base", "vit-base-patch16-224"),
        ),
        (
            "vit-l-16",
            "ViT-L/16",
            (16, 1024, 24, 16),
            304_326_632,
            VIT_SOURCE,
            ("vit-large", "vit-large-patch16-224"),
        ),
        ("vit-h-14", "ViT-H/14", (14, 1280, 32, 16), 632_045_800, VIT_SOURCE, ("vit-huge",)),
    )
)
