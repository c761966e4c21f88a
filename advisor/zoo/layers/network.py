"""A layer-by-layer counter for convolutional networks.

A network is built once with a `Network` that counts instead of computing. Every tensor is a
`Feature` that knows whether the backward pass keeps it, so that a tensor read by several layers
is counted once:

- a convolution, a linear layer and a normalisation keep their input,
- ReLU keeps its output (it works in place), GELU and SiLU keep their input,
- a product keeps both factors; sums, concatenations and pooling keep nothing more (the small
  index tensors of max pooling are neglected).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from advisor.zoo.layers.block import Block

# A kernel computes at least so many channels at once, needed or not: the smallest tile of
# cuDNN's matrix kernels for FP32 is 128 × 32 (tile quantisation, NVIDIA deep learning
# performance guide, "Matrix multiplication background", section 2.3).
TILE_CHANNELS: Final = 32


@dataclass(slots=True)
class Feature:
    """A tensor of `channels` × `side` × `side` elements."""

    channels: int
    side: int
    kept: bool = False

    @property
    def elements(self) -> int:
        """Elements of one sample."""
        return self.channels * self.side**2


@dataclass(slots=True)
class Network:
    """Totals of the layers seen so far, for one sample.

    Parameters
    ----------
    params, tensors : int
        Trained parameters and the tensors that hold them.
    layers : int
        Convolutions and linear layers.
    flops : float
        Forward FLOPs, a multiply-add counted as two; elementwise layers are neglected.
    tiled_training_flops : float
        FLOPs of forward and backward pass that the kernels carry out, idle channels of their
        tiles among them.
    kept : float
        Elements kept for the backward pass.
    largest : int
        Elements of the largest output of a convolution.
    attention_flops, score_elements : float
        The part of the FLOPs spent on attention scores, and what they keep if not fused.
    adapter_dimensions : int
        Inputs plus outputs of the linear layers inside transformer blocks.
    """

    params: int = 0
    tensors: int = 0
    layers: int = 0
    flops: float = 0.0
    tiled_training_flops: float = 0.0
    kept: float = 0.0
    largest: int = 0
    attention_flops: float = 0.0
    score_elements: float = 0.0
    adapter_dimensions: int = 0

    def conv(
        self,
        x: Feature,
        channels: int,
        kernel: int,
        stride: int = 1,
        *,
        groups: int = 1,
        bias: bool = False,
        padding: int | None = None,
    ) -> Feature:
        """Add a square convolution: ``2 k² C_in/g C_out`` FLOPs per output position.

        `padding` keeps the side at stride 1 unless given.
        """
        self.keep(x)
        y = Feature(channels, output_side(x.side, kernel, stride, padding))
        weights = kernel**2 * (x.channels // groups) * channels
        self._add_weights(weights, channels if bias else 0)
        self._add_flops(2.0 * weights * y.side**2, x.channels, channels)
        self.largest = max(self.largest, y.elements)
        self.layers += 1
        return y

    def linear(self, x: Feature, outputs: int, *, bias: bool = True) -> Feature:
        """Add a linear layer over all elements of `x`."""
        self.keep(x)
        weights = x.elements * outputs
        self._add_weights(weights, outputs if bias else 0)
        self._add_flops(2.0 * weights, x.elements, outputs)
        self.layers += 1
        return Feature(outputs, 1)

    def linear_each(self, x: Feature, channels: int, *, bias: bool = True) -> Feature:
        """Add a linear layer over the channels of every position."""
        return self.conv(x, channels, 1, bias=bias)

    def transformer(self, x: Feature, block: Block, times: int, context: int) -> Feature:
        """Add transformer blocks over the positions of `x`, attending to `context` tokens."""
        tokens = x.side**2
        attention_flops = times * block.attention_flops(tokens, context)
        flops = times * block.matmul_flops(tokens, context) + attention_flops
        self.params += times * block.params
        self.flops += flops
        self.tiled_training_flops += 3 * flops  # widths of transformers fill their tiles
        self.attention_flops += attention_flops
        self.kept += times * block.kept_elements(tokens, context)
        self.score_elements += times * block.score_elements(tokens, context)
        self.adapter_dimensions += times * block.adapter_dimensions
        self.layers += times
        return Feature(x.channels, x.side)

    def norm(self, x: Feature) -> Feature:
        """Add a batch, layer or group normalisation with scale and shift per channel."""
        self.keep(x)
        self._add_weights(x.channels, x.channels)
        return Feature(x.channels, x.side)

    def relu(self, x: Feature) -> Feature:
        """Add a ReLU."""
        y = Feature(x.channels, x.side)
        self.keep(y)
        return y

    def smooth(self, x: Feature) -> Feature:
        """Add a GELU, SiLU or sigmoid."""
        self.keep(x)
        return Feature(x.channels, x.side)

    def scale(self, x: Feature) -> Feature:
        """Multiply every channel with a trained scalar (layer scale)."""
        self.keep(x)
        self._add_weights(x.channels, 0)
        return Feature(x.channels, x.side)

    def multiply(self, x: Feature, gate: Feature) -> Feature:
        """Multiply `x` with a gate per channel (squeeze and excitation)."""
        self.keep(x)
        self.keep(gate)
        return Feature(x.channels, x.side)

    def add(self, x: Feature, y: Feature) -> Feature:
        """Add two tensors of the same shape."""
        if (x.channels, x.side) != (y.channels, y.side):
            raise ValueError(f"cannot add {x} and {y}")
        return Feature(x.channels, x.side)

    def concatenate(self, *parts: Feature) -> Feature:
        """Join tensors along the channels."""
        return Feature(sum(part.channels for part in parts), parts[0].side)

    def pool(self, x: Feature, kernel: int, stride: int, padding: int | None = None) -> Feature:
        """Add a max or average pooling."""
        return Feature(x.channels, output_side(x.side, kernel, stride, padding))

    def resize(self, x: Feature, side: int) -> Feature:
        """Pool or repeat to a given side, for example 1 for a global average."""
        return Feature(x.channels, side)

    def keep(self, x: Feature) -> None:
        """Keep a tensor for the backward pass, once."""
        if not x.kept:
            x.kept = True
            self.kept += x.elements

    def _add_flops(self, flops: float, inputs: int, outputs: int) -> None:
        """Add a product: its columns are the outputs forward, the inputs for their gradient."""
        self.flops += flops
        filled = 2 * _tiled(outputs) / outputs + _tiled(inputs) / inputs
        self.tiled_training_flops += flops * filled

    def _add_weights(self, weights: int, bias: int) -> None:
        self.params += weights + bias
        self.tensors += 2 if bias else 1


def _tiled(channels: int) -> int:
    return -(-channels // TILE_CHANNELS) * TILE_CHANNELS


def output_side(side: int, kernel: int, stride: int, padding: int | None = None) -> int:
    """Return the side after a convolution or pooling.

    >>> output_side(224, kernel=7, stride=2), output_side(56, kernel=3, stride=2)
    (112, 28)

    Raises
    ------
    InvalidInputError
        If the image is too small for the layer.
    """
    around = (kernel - 1) // 2 if padding is None else padding
    result = (side + 2 * around - kernel) // stride + 1
    if result < 1:
        raise InvalidInputError(
            f"the image becomes {side} pixels wide inside the network, too small for a layer "
            f"of {kernel} × {kernel}.",
            where="sample_size",
            todo="Choose a larger image side.",
        )
    return result
