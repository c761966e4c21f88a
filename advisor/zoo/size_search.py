"""Search for Llama-like dimensions that have a given number of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, ExpertShape, decoder

VOCAB: Final = 32000
WIDTH_STEP: Final = 128
INNER_STEP: Final = 256
INNER_RATIO: Final = 8 / 3
"""A gated layer of this ratio has as many weights as a plain one of 4 × hidden."""
EXPERT_STEP: Final = 64
GATED_MATRICES: Final = 3
TOLERANCE: Final = 0.01
MOE_DESIGNS: Final = ((8, 2), (16, 2), (16, 4), (64, 6), (128, 8), (160, 6), (256, 8), (384, 8))
"""Experts and experts per token, from Mixtral to DeepSeek-V3."""
LARGE_ASPECT: Final = 128.0
LARGE_PARAMS: Final = 7e9
ASPECT_EXPONENT: Final = 0.15
WIDEST_DEVIATION: Final = 2.0
EVEN_HEADS: Final = 8
EVEN_LAYERS: Final = 4
UNEVEN: Final = 0.1
"""What it costs a shape if tensor or pipeline parallelism cannot cut it evenly."""


class Sparse(NamedTuple):
    """A decoder and the mixture of experts to put into it, with how unusual they are."""

    oddness: float
    shape: DecoderShape
    experts: ExpertShape


class _Probe(NamedTuple):
    """Parameters outside the blocks, and those of one block."""

    outside: int
    block: int


def usual_aspect(params: float) -> float:
    """Return the usual ratio of width to layers.

    128 from 7 B parameters on (Llama 2), less below, down to 64 (768/12 at 0.1 B).

    >>> round(usual_aspect(0.1e9)), usual_aspect(70e9)
    (68, 128.0)
    """
    return LARGE_ASPECT * float(min(1.0, params / LARGE_PARAMS) ** ASPECT_EXPONENT)


def dense_shape(params: float) -> DecoderShape:
    """Return the shape within 1 % of `params` with the most usual proportions.

    Layers are cut evenly by pipelines; the inner width makes up for what is missing.
    """
    best = (True, math.inf, WIDTH_STEP, 1, INNER_STEP)
    for hidden in _widths(params):
        probe = _probe(_shape(hidden, 1, INNER_STEP))
        for layers in _depths(hidden, params):
            per_inner = GATED_MATRICES * hidden * layers
            rest = params - probe.outside - layers * probe.block
            inner = INNER_STEP * max(1, 1 + round(rest / per_inner / INNER_STEP))
            got = probe.outside + layers * probe.block + per_inner * (inner - INNER_STEP)
            oddness = _oddness(hidden, layers, params) + _inner_oddness(hidden, inner)
            best = min(best, (abs(got / params - 1) > TOLERANCE, oddness, hidden, layers, inner))
    _, _, hidden, layers, inner = best
    return _shape(hidden, layers, inner)


def sparse_shape(total: float, active: float) -> Sparse | None:
    """Return the mixture of experts within 1 % of both counts with the most usual proportions."""
    return min(_sparse_shapes(total, active), key=lambda found: found.oddness, default=None)


def _sparse_shapes(total: float, active: float) -> Iterator[Sparse]:
    """Yield mixtures within 1 % of both counts."""
    for count, per_token in MOE_DESIGNS:
        one_expert = (total - active) / (count - per_token)
        rest = active - per_token * one_expert
        if rest <= 0:
            continue
        for hidden in _widths(active):
            mixture = ExpertShape(count=count, per_token=per_token, inner=EXPERT_STEP)
            probe = _probe(_shape(hidden, 1, INNER_STEP, mixture))
            layers = round((rest - probe.outside) / probe.block)
            if layers < 1:
                continue
            width = one_expert / (GATED_MATRICES * hidden * layers)
            inner = EXPERT_STEP * max(1, round(width / EXPERT_STEP))
            mixture = ExpertShape(count=count, per_token=per_token, inner=inner)
            if _is_close(_shape(hidden, layers, inner, mixture), total, active):
                oddness = _oddness(hidden, layers, active)
                oddness += _inner_oddness(hidden, per_token * inner)
                yield Sparse(oddness, _shape(hidden, layers, inner), mixture)


def _is_close(shape: DecoderShape, total: float, active: float) -> bool:
    got = decoder(styles.LLAMA, shape, name="", title="")
    errors = (got.params / total - 1, got.active_params / active - 1)
    return max(map(abs, errors)) <= TOLERANCE


def _probe(shape: DecoderShape) -> _Probe:
    """Count a decoder of one layer; of a mixture only what is not an expert."""
    one = decoder(styles.LLAMA, shape, name="", title="")
    return _Probe(one.params - one.stack.params, one.stack.params - one.stack.expert_params)


def _widths(params: float) -> range:
    """Return the widths to try: around hidden³ × 12 / aspect = parameters."""
    middle = (params * usual_aspect(params) / 12) ** (1 / 3)
    first = max(1, math.floor(middle / WIDEST_DEVIATION / WIDTH_STEP))
    last = math.ceil(middle * WIDEST_DEVIATION / WIDTH_STEP)
    return range(first * WIDTH_STEP, (last + 1) * WIDTH_STEP, WIDTH_STEP)


def _depths(hidden: int, params: float) -> range:
    """Return the numbers of layers to try at a width."""
    middle = hidden / usual_aspect(params)
    first = max(1, math.floor(middle / WIDEST_DEVIATION / EVEN_LAYERS))
    last = math.ceil(middle * WIDEST_DEVIATION / EVEN_LAYERS)
    return range(first * EVEN_LAYERS, (last + 1) * EVEN_LAYERS, EVEN_LAYERS)


def _inner_oddness(hidden: int, inner: int) -> float:
    """Return how far the inner width is from its usual ratio."""
    return abs(math.log(inner / (INNER_RATIO * hidden)))


def _oddness(hidden: int, layers: int, params: float) -> float:
    """Return how far a shape is from usual proportions."""
    uneven = (_heads(hidden) % EVEN_HEADS != 0) + (layers % EVEN_LAYERS != 0)
    return abs(math.log(hidden / layers / usual_aspect(params))) + UNEVEN * uneven


def _heads(hidden: int) -> int:
    """Return heads of width 128, or 64 below a width of 2048."""
    return hidden // (128 if hidden >= 2048 else 64)


def _shape(
    hidden: int, layers: int, inner: int, mixture: ExpertShape | None = None
) -> DecoderShape:
    return DecoderShape(
        vocab=VOCAB,
        hidden=hidden,
        layers=layers,
        heads=_heads(hidden),
        inner=inner,
        experts=mixture,
    )
