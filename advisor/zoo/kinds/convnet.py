"""Convolutional networks, counted layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from advisor.domain import Model
from advisor.zoo.base import LARGEST_IMAGE_SIDE, Architecture
from advisor.zoo.layers.network import Feature, Network


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvNet(Architecture):
    """A network described by a function that adds its layers to a `Network`.

    What crosses from one layer to the next is counted as the largest output of a convolution.

    Parameters
    ----------
    build : callable
        Adds all layers, from the image to the classes.
    channels : int
        Channels of the image.
    """

    build: Callable[[Network, Feature], Feature]
    channels: int = 3

    sample_unit: ClassVar[str] = "image"
    size_word: ClassVar[str] = "image side"
    absurd_size: ClassVar[int] = LARGEST_IMAGE_SIDE

    @property
    def params(self) -> int:
        """Weights, biases and normalisation vectors of all layers."""
        return self.count(self.default_sample_size).params

    def count(self, side: int) -> Network:
        """Return the totals of all layers for an image of `side` pixels."""
        network = Network()
        self.build(network, Feature(self.channels, side))
        return network

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at an image side."""
        side = self.checked_sample_size(sample_size)
        network = self.count(side)
        return Model.make(
            name=self.name,
            family=self.family,
            params=network.params,
            active_params=network.params,
            layers=network.layers,
            hidden=0,
            heads=0,
            kv_heads=0,
            vocab=0,
            tokens_per_sample=1,
            resolution=side,
            forward_flops_per_sample=network.flops,
            activation_elements_per_sample=network.kept,
            boundary_elements_per_sample=network.largest,
            source=self.source,
        )
