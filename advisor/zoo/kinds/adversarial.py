"""Generative adversarial networks: a generator and a discriminator trained in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from advisor.domain import Model
from advisor.zoo.base import LARGEST_IMAGE_SIDE, Architecture
from advisor.zoo.layers.network import Feature, Network

# Passes per image in units of a forward pass: 3 of a network that is trained, 1 of gradients
# that only pass through. Lazy regularisation is 6 passes on half a batch every 4th step of the
# generator, and on every 16th of the discriminator (Karras et al. 2020, arXiv 1912.04958,
# section 3.1 and appendix B).
GENERATOR_PASSES: Final = 3 + 1 + 6 / 2 / 4
DISCRIMINATOR_PASSES: Final = 2 + 3 + 3 + 6 / 16
TRAINING_PASSES: Final = 3
"""What every forward pass of a model is taken to cost with its backward pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdversarialPair(Architecture):
    """Two networks that are trained against each other, counted as one of equal work.

    Work and what is kept are those of a network whose forward and backward pass take as long as
    all passes that one image needs.

    Parameters
    ----------
    generate, judge : callable
        Add the generator for images of a side, and the discriminator of an image.
    """

    generate: Callable[[Network, int], Feature]
    judge: Callable[[Network, Feature], Feature]

    sample_unit: ClassVar[str] = "image"
    size_word: ClassVar[str] = "image side"
    absurd_size: ClassVar[int] = LARGEST_IMAGE_SIDE

    @property
    def params(self) -> int:
        """Weights of both networks at the default image side."""
        generator, discriminator = self.count(self.default_sample_size)
        return generator.params + discriminator.params

    def count(self, side: int) -> tuple[Network, Network]:
        """Return the totals of generator and discriminator for an image of `side` pixels."""
        generator, discriminator = Network(), Network()
        image = self.generate(generator, side)
        self.judge(discriminator, Feature(image.channels, image.side))
        return generator, discriminator

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at an image side."""
        generator, discriminator = self.count(self.checked_sample_size(sample_size))
        params = generator.params + discriminator.params

        def both(made: float, judged: float) -> float:
            passes = GENERATOR_PASSES * made + DISCRIMINATOR_PASSES * judged
            return passes / TRAINING_PASSES

        return Model.make(
            name=self.name,
            family=self.family,
            params=params,
            active_params=params,
            layers=round(both(generator.layers, discriminator.layers)),
            hidden=0,
            heads=0,
            kv_heads=0,
            vocab=0,
            tokens_per_sample=1,
            resolution=self.checked_sample_size(sample_size),
            forward_flops_per_sample=both(generator.flops, discriminator.flops),
            activation_elements_per_sample=both(generator.kept, discriminator.kept),
            boundary_elements_per_sample=max(generator.largest, discriminator.largest),
            source=self.source,
        )
