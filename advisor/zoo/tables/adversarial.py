"""Generative adversarial networks."""

from __future__ import annotations

from advisor.zoo.kinds.adversarial import AdversarialPair
from advisor.zoo.networks.stylegan import discriminator, generator

MODELS = (
    AdversarialPair(
        name="stylegan2-ada",
        title="StyleGAN2-ADA",
        family="cnn",
        default_sample_size=1024,
        largest_sample_size=1024,
        published_params=28_794_124 + 29_012_513,
        source="Karras et al. 2020, arXiv 2006.06676; NVlabs/stylegan2-ada-pytorch",
        aliases=("stylegan2",),
        usual_batch=32,
        generate=generator,
        judge=discriminator,
    ),
)
