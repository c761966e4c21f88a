"""Image generators: diffusion transformers and UNets."""

from __future__ import annotations

from advisor.zoo.kinds.diffusion import diffusion_transformer
from advisor.zoo.kinds.unet import UNet
from advisor.zoo.tables.datasets import IMAGENET

DIT_SOURCE = "Peebles and Xie 2022, arXiv 2212.09748, tables 1 and 4"
PREPARED = "latents and text embeddings prepared beforehand"

DIFFUSION_TRANSFORMERS = tuple(
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
UNETS = (
    UNet(
        name="stable-diffusion-1.5",
        title="Stable Diffusion 1.5 UNet",
        family="diffusion",
        default_sample_size=512,
        published_params=860e6,
        source="Rombach et al. 2021, arXiv 2112.10752; parameters: CompVis/stable-diffusion",
        aliases=("stable-diffusion-v1.5", "stable-diffusion-v1-5", "sd-1.5", "sd15"),
        assumptions=(PREPARED,),
        widths=(320, 640, 1280, 1280),
        depths=(1, 1, 1, 0),
        middle_depth=1,
        head_dims=(40, 80, 160, 160),
        text_width=768,
    ),
    UNet(
        name="stable-diffusion-2",
        title="Stable Diffusion 2 UNet",
        family="diffusion",
        default_sample_size=512,
        published_params=865e6,
        source="Stability AI 2022, Stability-AI/stablediffusion; parameters: Podell et al. 2023, "
        "arXiv 2307.01952, table 1",
        aliases=("stable-diffusion-v2", "stable-diffusion-2.1", "sd-2", "sd-2.1"),
        assumptions=(PREPARED,),
        widths=(320, 640, 1280, 1280),
        depths=(1, 1, 1, 0),
        middle_depth=1,
        head_dims=(64, 64, 64, 64),
        text_width=1024,
    ),
    UNet(
        name="sdxl",
        title="SDXL UNet",
        family="diffusion",
        default_sample_size=1024,
        published_params=2_567_463_684,
        source="Podell et al. 2023, arXiv 2307.01952, table 1 (rounded to 2.6B); parameters: "
        "checkpoint stabilityai/stable-diffusion-xl-base-1.0",
        aliases=("stable-diffusion-xl", "stable-diffusion-xl-base-1.0", "sdxl-1.0"),
        assumptions=(PREPARED,),
        widths=(320, 640, 1280),
        depths=(0, 2, 10),
        middle_depth=10,
        head_dims=(64, 64, 64),
        text_width=2048,
        condition_width=2816,
    ),
)

MODELS = DIFFUSION_TRANSFORMERS + UNETS
