"""Diffusion transformers (Peebles and Xie 2022, arXiv 2212.09748)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from advisor.domain import Model
from advisor.zoo.base import LARGEST_IMAGE_SIDE, Architecture, Facts
from advisor.zoo.kinds.vision_transformer import check_divisible
from advisor.zoo.layers.block import Stack, classic_block
from advisor.zoo.layers.linear import Linear, total_flops_per_token, total_params

LATENT_FACTOR = 8
"""The autoencoder makes a latent of one eighth of the image side."""
FREQUENCIES = 256
"""Width of the sinusoidal embedding of the diffusion time."""
MODULATIONS = 6
"""Shift, scale and gate for attention and for the feed-forward layer (adaLN-Zero)."""
MODULATION_KEPT = 4
"""Elements per token and channel that modulation keeps: for each of two sublayers its
normalised input, which the scale multiplies, and its output, which the gate multiplies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffusionTransformer(Architecture):
    """A class-conditional DiT with adaLN-Zero blocks, trained on latents.

    The autoencoder is not trained and not counted; latents are taken as prepared beforehand.

    Parameters
    ----------
    patch : int
        Side of a patch in latent pixels.
    stack : Stack
        The blocks without their modulation.
    classes : int
        Classes the image can be asked to show.
    latent_channels : int
        Channels of the latent.
    """

    patch: int
    stack: Stack
    classes: int = 1000
    latent_channels: int = 4

    sample_unit: ClassVar[str] = "image"
    size_word: ClassVar[str] = "image side"
    absurd_size: ClassVar[int] = LARGEST_IMAGE_SIDE

    @property
    def params(self) -> int:
        """Blocks, modulation, embeddings of patch, time, class and position, and output."""
        hidden = self.stack.hidden
        positions = self._tokens(self.default_sample_size) * hidden
        no_class = 1  # for guidance without a classifier
        classes = (self.classes + no_class) * hidden
        linears = total_params(self._token_linears + self._sample_linears)
        return self.stack.params + linears + positions + classes

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers."""
        return self.stack.adapter_dimensions

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at an image side."""
        side = self.checked_sample_size(sample_size)
        check_divisible(side, LATENT_FACTOR * self.patch, self.title)
        tokens = self._tokens(side)
        width = tokens * self.stack.hidden
        attention_flops = self.stack.attention_flops(tokens)
        outside = tokens * total_flops_per_token(self._token_linears)
        outside += total_flops_per_token(self._sample_linears)
        modulation = MODULATION_KEPT * width * self.stack.layers
        return Model.make(
            name=self.name,
            family=self.family,
            params=self.params,
            active_params=self.params,
            layers=self.stack.layers,
            hidden=self.stack.hidden,
            heads=self.stack.attention.heads,
            kv_heads=self.stack.attention.kv_heads,
            vocab=0,
            tokens_per_sample=tokens,
            resolution=side,
            forward_flops_per_sample=self.stack.matmul_flops(tokens) + attention_flops + outside,
            attention_flops_per_sample=attention_flops,
            activation_elements_per_sample=self.stack.kept_elements(tokens) + modulation + width,
            attention_elements_per_sample=self.stack.score_elements(tokens),
            boundary_elements_per_sample=width,
            source=self.source,
        )

    @property
    def _token_linears(self) -> tuple[Linear, ...]:
        """Patch embedding, and the output: noise and variance of every pixel of the patch."""
        pixels = self.patch**2 * self.latent_channels
        hidden = self.stack.hidden
        return Linear(pixels, hidden, bias=True), Linear(hidden, 2 * pixels, bias=True)

    @property
    def _sample_linears(self) -> tuple[Linear, ...]:
        """Layers that each image passes once: time embedding and modulations."""
        hidden = self.stack.hidden
        time = (Linear(FREQUENCIES, hidden, bias=True), Linear(hidden, hidden, bias=True))
        block = Linear(hidden, MODULATIONS * hidden, bias=True)
        output = Linear(hidden, 2 * hidden, bias=True)
        return time + self.stack.layers * (block,) + (output,)

    def _tokens(self, side: int) -> int:
        return (side // (LATENT_FACTOR * self.patch)) ** 2


def diffusion_transformer(
    *, patch: int, hidden: int, layers: int, heads: int, **facts: Unpack[Facts]
) -> DiffusionTransformer:
    """Return a DiT for images of 256 × 256 pixels from its dimensions."""
    block = classic_block(hidden, heads, 4 * hidden, norm_vectors=0)
    return DiffusionTransformer(
        **facts,
        family="diffusion",
        default_sample_size=256,
        patch=patch,
        stack=Stack(parts=((block, layers),)),
    )
