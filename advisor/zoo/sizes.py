"""Architectures that are only known by their size: “7B”, “8x7B”, “30B-A3B”."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from advisor.core.errors import InvalidInputError
from advisor.core.units import count, round_significant
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, ExpertShape, decoder
from advisor.zoo.kinds.transformer import LanguageModel
from advisor.zoo.size_search import VOCAB, dense_shape, sparse_shape

SMALLEST: Final = 50e6
LARGEST: Final = 20e12
SEQUENCE: Final = 4096
EXPERTS_PER_TOKEN: Final = 2
SOURCE: Final = "Llama proportions (Touvron et al. 2023, arXiv 2302.13971), solved for the size"

_NUMBER: Final = r"(\d{1,6}(?:\.\d{1,6})?)\s*([mbt])(?:illion|rillion|n)?"
_WORDS: Final = r"(?:[\s-]*(?:dense|param(?:eter)?s|model|llm))*"
_DENSE: Final = re.compile(rf"(?:dense[\s-]*)?{_NUMBER}{_WORDS}")
_MOE: Final = r"(?:moe[\s-]*)?"
_COPIES: Final = re.compile(rf"{_MOE}(\d{{1,4}})\s*[x×]\s*{_NUMBER}(?:[\s-]*moe)?")
_ACTIVE: Final = re.compile(
    rf"{_MOE}{_NUMBER}[\s,/-]*(?:a|active)\s*{_NUMBER}(?:[\s-]*(?:active|moe))*"
)
_SCALE: Final = {"m": 1e6, "b": 1e9, "t": 1e12}
EXAMPLES: Final = "“7B”, “1.3B dense”, “8x7B moe” or “moe 47B a13B”"


def is_size(text: str) -> bool:
    """Return whether `text` reads like a size."""
    folded = text.strip().casefold()
    return any(form.fullmatch(folded) for form in (_DENSE, _COPIES, _ACTIVE))


def from_size(text: str) -> LanguageModel:
    """Return a Llama-shaped architecture of the given size, within 1 %.

    ========================  ==============================================================
    text                      architecture
    ========================  ==============================================================
    ``7B``, ``1.3B dense``    a dense decoder
    ``8x7B moe``              a 7B decoder with 8 feed-forward layers of which 2 serve a token
    ``moe 47B a13B``          a mixture of experts by total and active parameters
    ========================  ==============================================================

    Raises
    ------
    InvalidInputError
        If the text is no size or the size is out of range.

    Examples
    --------
    >>> from_size("7B").model().layers
    32
    """
    folded = text.strip().casefold() if isinstance(text, str) else ""
    if match := _DENSE.fullmatch(folded):
        return _dense(_size(match[1], match[2]))
    if match := _COPIES.fullmatch(folded):
        return _copies(int(match[1]), _size(match[2], match[3]))
    if match := _ACTIVE.fullmatch(folded):
        return _sparse(_size(match[1], match[2]), _size(match[3], match[4]))
    raise InvalidInputError(
        "this is not a model size.", where="model", todo=f"Write it like {EXAMPLES}."
    )


def _size(number: str, scale: str) -> float:
    size = float(number) * _SCALE[scale]
    if not SMALLEST <= size <= LARGEST:
        raise InvalidInputError(
            f"a size from {count(SMALLEST)} to {count(LARGEST)} parameters is needed, "
            f"not {number}{scale.upper()}.",
            where="model",
            todo=f"Write it like {EXAMPLES}.",
        )
    return size


def _dense(params: float) -> LanguageModel:
    shape = dense_shape(params)
    size = _short(params)
    return decoder(
        styles.LLAMA,
        shape,
        name=f"dense-{size.lower()}",
        title=f"{size} dense",
        sequence=SEQUENCE,
        source=SOURCE,
        assumptions=(f"a Llama-shaped decoder with {_describe(shape)}, inner {shape.inner:,}",),
    )


def _copies(copies: int, params: float) -> LanguageModel:
    """Return a dense decoder whose feed-forward layers become `copies` experts."""
    if copies <= EXPERTS_PER_TOKEN:
        raise InvalidInputError(
            f"a mixture needs more than {EXPERTS_PER_TOKEN} experts, not {copies}.",
            where="model",
            todo=f"Write it like {EXAMPLES}.",
        )
    dense = dense_shape(params)
    mixture = ExpertShape(count=copies, per_token=EXPERTS_PER_TOKEN, inner=dense.inner)
    size = f"{copies}x{_short(params)}"
    return _mixture(dense, mixture, f"moe-{size.lower()}", f"{size} MoE")


def _sparse(total: float, active: float) -> LanguageModel:
    """Return a mixture of experts with `total` parameters, `active` of them per token."""
    if active >= total:
        raise InvalidInputError(
            "the active parameters must be fewer than all parameters.",
            where="model",
            todo="Write the total first, for example “moe 47B a13B”.",
        )
    size = f"{_short(total)}-a{_short(active)}"
    found = sparse_shape(total, active)
    if found is None:
        raise InvalidInputError(
            f"no usual mixture of experts has {_short(total)} parameters of which "
            f"{_short(active)} are active.",
            where="model",
            todo="Paste the config.json of the model instead.",
        )
    return _mixture(found.shape, found.experts, f"moe-{size.lower()}", f"{size.upper()} MoE")


def _mixture(shape: DecoderShape, experts: ExpertShape, name: str, title: str) -> LanguageModel:
    """Return a decoder with experts in place of its feed-forward layers."""
    architecture = decoder(
        styles.LLAMA,
        replace(shape, experts=experts),
        name=name,
        title=title,
        sequence=SEQUENCE,
        source=SOURCE,
    )
    total, active = _short(architecture.params), _short(architecture.active_params)
    note = (
        f"a Mixtral-shaped decoder with {_describe(shape)}, {experts.per_token} of "
        f"{experts.count} experts of inner width {experts.inner:,} per token: "
        f"{total} parameters, {active} active"
    )
    return replace(architecture, assumptions=(note,))


def _describe(shape: DecoderShape) -> str:
    return f"{shape.layers} layers of width {shape.hidden:,} and a vocabulary of {VOCAB:,}"


def _short(params: float) -> str:
    """Return a size as it stands in names of models.

    >>> _short(7e9), _short(46.7e9), _short(350e6)
    ('7B', '46.7B', '350M')
    """
    rounded = round_significant(params)
    for scale, suffix in ((1e12, "T"), (1e9, "B")):
        if rounded >= scale:
            return f"{rounded / scale:g}{suffix}"
    return f"{rounded / 1e6:g}M"
