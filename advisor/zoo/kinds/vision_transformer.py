"""Vision transformers: an image cut into patches, a stack of blocks and a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from advisor.core.errors import InvalidInputError
from advisor.domain import Model
from advisor.zoo.base import LARGEST_IMAGE_SIDE, Architecture, Facts
from advisor.zoo.layers.block import Stack, classic_block
from advisor.zoo.layers.linear import Linear


@dataclass(frozen=True, kw_only=True, slots=True)
class VisionTransformer(Architecture):
    """A ViT (Dosovitskiy et al. 2020, arXiv 2010.11929).

    Learned positions belong to the default image side; other sides use them interpolated.

    Parameters
    ----------
    patch : int
        Side of a patch in pixels.
    stack : Stack
        The blocks.
    classes : int
        Classes to tell apart.
    channels : int
        Channels of the image.
    """

    patch: int
    stack: Stack
    classes: int
    channels: int = 3

    sample_unit: ClassVar[str] = "image"
    size_word: ClassVar[str] = "image side"
    absurd_size: ClassVar[int] = LARGEST_IMAGE_SIDE

    @property
    def params(self) -> int:
        """Patch embedding, class token, positions, blocks, last norm and classifier."""
        hidden = self.stack.hidden
        block, _ = self.stack.parts[0]
        tokens = self._tokens(self.default_sample_size)
        around = hidden + tokens * hidden + block.norm_vectors * hidden
        return self._embedding.params + around + self.stack.params + self._classifier.params

    @property
    def adapter_dimensions(self) -> int:
        """Inputs plus outputs of all attention and feed-forward linear layers."""
        return self.stack.adapter_dimensions

    def model(self, sample_size: int | None = None) -> Model:
        """Return the numbers at an image side."""
        side = self.checked_sample_size(sample_size)
        check_divisible(side, self.patch, self.title)
        tokens = self._tokens(side)
        hidden = self.stack.hidden
        attention_flops = self.stack.attention_flops(tokens)
        ends = (tokens - 1) * self._embedding.flops_per_token + self._classifier.flops_per_token
        pixels = self.channels * side**2
        return Model.make(
            name=self.name,
            family=self.family,
            params=self.params,
            active_params=self.params,
            layers=self.stack.layers,
            hidden=hidden,
            heads=self.stack.attention.heads,
            kv_heads=self.stack.attention.kv_heads,
            vocab=0,
            tokens_per_sample=tokens,
            resolution=side,
            forward_flops_per_sample=self.stack.matmul_flops(tokens) + attention_flops + ends,
            attention_flops_per_sample=attention_flops,
            activation_elements_per_sample=self.stack.kept_elements(tokens)
            + pixels
            + tokens * hidden,
            attention_elements_per_sample=self.stack.score_elements(tokens),
            boundary_elements_per_sample=tokens * hidden,
            source=self.source,
        )

    @property
    def _embedding(self) -> Linear:
        return Linear(self.channels * self.patch**2, self.stack.hidden, bias=True)

    @property
    def _classifier(self) -> Linear:
        return Linear(self.stack.hidden, self.classes, bias=True)

    def _tokens(self, side: int) -> int:
        """Return the patches of an image and the class token."""
        return (side // self.patch) ** 2 + 1


def check_divisible(side: int, step: int, title: str) -> None:
    """Check that an image of `side` pixels can be cut into patches of `step` pixels.

    Raises
    ------
    InvalidInputError
        If it cannot.
    """
    if side % step:
        nearest = max(step, round(side / step) * step)
        raise InvalidInputError(
            f"{title} needs an image side that is a multiple of {step}, not {side}.",
            where="sample_size",
            todo=f"The nearest is {nearest}.",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class VisionShape:
    """The dimensions of a ViT.

    Parameters
    ----------
    patch, hidden, layers, heads, inner : int
        Side of a patch in pixels, width, blocks, heads, inner width of feed-forward layers.
    side, classes : int
        Image side in pixels, classes to tell apart.
    """

    patch: int
    hidden: int
    layers: int
    heads: int
    inner: int
    side: int = 224
    classes: int = 1000


def vision_transformer(shape: VisionShape, **facts: Unpack[Facts]) -> VisionTransformer:
    """Return a ViT."""
    block = classic_block(shape.hidden, shape.heads, shape.inner)
    return VisionTransformer(
        **facts,
        family="vision",
        default_sample_size=shape.side,
        patch=shape.patch,
        stack=Stack(parts=((block, shape.layers),)),
        classes=shape.classes,
    )
