"""Image generators: diffusion transformers."""

from __future__ import annotations

from advisor.zoo.diffusion import diffusion_transformer
from advisor.zoo.tables.datasets import IMAGENET

DIT_SOURCE = "Peebles and Xie 2022, arXiv 2212.09748, tables 1 and 4"

MODELS = tuple(
    diffusion_transformer(
        name=name,
        title=title,
        patch=2,
        hidden=hidden,
        layers=layers,
        heads=heads,
        published_params=published,
        source=DIT_SOURCE,
        dataset=IMAGENET,
    )
    for name, title, hidden, layers, heads, published in (
        ("dit-s-2", "DiT-S/2", 384, 12, 6, 33e6),
        ("dit-b-2", "DiT-B/2", 768, 12, 12, 130e6),
        ("dit-l-2", "DiT-L/2", 1024, 24, 16, 458e6),
        ("dit-xl-2", "DiT-XL/2", 1152, 28, 16, 675e6),
    )
)
