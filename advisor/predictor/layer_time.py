"""Time of transformer layers from their shape: an additive roofline."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats

# Elements that a layer keeps per token, in units of its width, and per pair of tokens and head
# (Korthikanti et al., 2022, arXiv 2205.05198, equation 1); each is written and read once.
KEPT_WIDTHS: Final = 17.0
KEPT_SCORES: Final = 2.5
WRITE_AND_READ: Final = 2.0


@dataclass(frozen=True, slots=True)
class LayerWork:
    """Work of a forward pass through layers, one row per job.

    Attributes
    ----------
    dense_flops, attention_flops : array
        FLOPs against weights, and of attention scores.
    element_bytes, score_bytes : array
        Traffic of kernels that work element by element: on activations, and on scores [bytes].
    weight_bytes : array
        Weights, read once [bytes].
    layers : array
        Layers passed: kernels to launch.
    """

    dense_flops: FloatArray
    attention_flops: FloatArray
    element_bytes: FloatArray
    score_bytes: FloatArray
    weight_bytes: FloatArray
    layers: FloatArray

    def times(self, factor: Floats) -> LayerWork:
        """Return all work multiplied by `factor`."""
        return LayerWork(**{f.name: getattr(self, f.name) * factor for f in fields(self)})

    def take(self, rows: np.ndarray) -> LayerWork:
        """Return the given rows."""
        return LayerWork(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


def layer_work(
    *,
    hidden: Floats,
    heads: Floats,
    weights: Floats,
    tokens: Floats,
    batch: Floats,
    bytes_per_element: Floats,
) -> LayerWork:
    """Return the work of one transformer layer, forward.

    FLOPs as in Narayanan et al., 2021, arXiv 2104.04473, section 3.5: ``2 b s W + 4 b s² h``, for
    W = 12 h² a third of their ``24 b s h² + 4 b s² h`` per direction.

    Parameters
    ----------
    hidden, heads, weights : array
        Width, attention heads, parameters of the layer.
    tokens : array
        Tokens per sample.
    batch : array
        Samples.
    bytes_per_element : array
        4 for FP32, 2 for FP16.

    Examples
    --------
    A layer of GPT-3 175B on a sequence of 2,048 tokens:

    >>> work = layer_work(hidden=12288.0, heads=96.0, weights=12 * 12288.0**2, tokens=2048.0,
    ...                   batch=1.0, bytes_per_element=2.0)
    >>> round(float(work.dense_flops + work.attention_flops) / 1e12, 2)
    7.63
    """
    positions = np.asarray(batch * tokens, float)
    pairs = positions * tokens
    moved = WRITE_AND_READ * np.asarray(bytes_per_element, float)
    return LayerWork(
        dense_flops=2 * positions * weights,
        attention_flops=4 * pairs * hidden,
        element_bytes=KEPT_WIDTHS * moved * positions * hidden,
        score_bytes=KEPT_SCORES * moved * pairs * heads,
        weight_bytes=np.asarray(bytes_per_element * weights + 0 * positions),
        layers=np.ones_like(positions),
    )


@dataclass(frozen=True, slots=True)
class LayerCosts:
    """What one unit of work costs relative to the data sheet; scalars, or one value per job.

    Attributes
    ----------
    dense, attention : array
        1 for arithmetic at the sustained rate.
    elements, scores, weights : array
        1 for one pass at the memory bandwidth.
    layer_s : array
        Launching the kernels of a layer [s].
    """

    dense: Floats
    attention: Floats
    elements: Floats
    scores: Floats
    weights: Floats
    layer_s: Floats


# Fitted to the same profiles as the rates of `advisor.predictor.sustained`: Llama, GPT, BERT and
# vision transformers in PyTorch. What grows with weights backward is gradient accumulation.
FP32_FORWARD: Final = LayerCosts(1.0, 0.97, 0.70, 2.1, 0.30, 5.4e-5)
FP32_BACKWARD: Final = LayerCosts(1.86, 2.6, 0.85, 2.6, 2.4, 3.6e-4)
TENSOR_FORWARD: Final = LayerCosts(1.0, 0.88, 3.5, 0.11, 0.33, 2.2e-4)
TENSOR_BACKWARD: Final = LayerCosts(1.93, 1.72, 9.5, 0.23, 11.2, 1.6e-4)


def layer_s(
    work: LayerWork, sustained_flops: Floats, memory_bytes_per_s: Floats, costs: LayerCosts
) -> FloatArray:
    """Time of the work [s]: arithmetic, memory traffic and launches add up.

    Parameters
    ----------
    work : LayerWork
        What is to be done.
    sustained_flops : array
        See `advisor.predictor.sustained` [FLOP/s].
    memory_bytes_per_s : array
        Memory bandwidth [bytes/s].
    costs : LayerCosts
        Of a unit of work.
    """
    arithmetic = costs.dense * work.dense_flops + costs.attention * work.attention_flops
    traffic = (
        costs.elements * work.element_bytes
        + costs.scores * work.score_bytes
        + costs.weights * work.weight_bytes
    )
    busy = arithmetic / sustained_flops + traffic / memory_bytes_per_s
    return np.asarray(busy + costs.layer_s * work.layers)
