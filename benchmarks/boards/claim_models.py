"""The network that the description of a published effort names."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from advisor.core.errors import InvalidInputError
from advisor.core.units import round_significant
from advisor.zoo import from_size
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, decoder
from advisor.zoo.lookup import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from advisor.domain import Model
    from advisor.zoo import Architecture

LANGUAGE_TASKS: Final = ("pretrain", "finetune", "lora")
# A network of the zoo is the one described if their parameters agree this well.
SAME_PARAMS: Final = 0.15
VOCAB: Final = 50_304
# karpathy/nanochat: `--depth` alone sets the size, 64 of width per layer and heads of 128.
DEPTH: Final = re.compile(r"\bnanochat\b.*?\bd(\d{1,3})\b", re.IGNORECASE)
WIDTH_PER_LAYER: Final = 64
NANOCHAT_HEAD: Final = 128
NANOCHAT_VOCAB: Final = 65_536
USUAL_HEAD: Final = 64
PLAIN: Final = replace(styles.MPT, tied=False)
# What a picture is: encoders, tokens per picture and frozen parts are not stated.
SEVERAL_NETWORKS: Final = re.compile(r"vision|multimodal|video|audio|speech", re.IGNORECASE)

# He et al., 2021, arXiv 2111.06377, section 3: the encoder sees a quarter of the patches, a
# decoder of 8 blocks of width 512 all of them.
VISIBLE: Final = 0.25
DECODER_BLOCKS: Final = 8
DECODER_WIDTH: Final = 512


def architecture_of(row: pd.Series) -> Architecture:
    """Return the network of a row: by its name, else by the numbers that are stated.

    Raises
    ------
    InvalidInputError
        If neither says what is trained.
    """
    named = _named(row)
    if named is not None:
        return named
    if row["task"] not in LANGUAGE_TASKS or SEVERAL_NETWORKS.search(row["job_name"]):
        raise InvalidInputError("the network is not one that the zoo knows.", where="model")
    if found := DEPTH.search(row["job_name"]):
        return _nanochat(int(found[1]))
    if row["layers"] > 0:
        return _by_depth(row)
    return _with_sequence_of(_relative(row), _by_size(row))


def _relative(row: pd.Series) -> Architecture | None:
    """Return the network that the title names where only its size is another: GPT-3 1.3B."""
    found = (find(phrase) for phrase in _phrases(row["job_name"]))
    return next((network for network in found if network is not None), None)


def _with_sequence_of(relative: Architecture | None, network: Architecture) -> Architecture:
    """Return a network that is trained with the sequences of its relative, if there is one."""
    if relative is None or relative.sample_unit != network.sample_unit:
        return network
    return replace(network, default_sample_size=relative.default_sample_size)


def _named(row: pd.Series) -> Architecture | None:
    """Return the zoo's network of the longest phrase of the title that fits what is stated."""
    for phrase in _phrases(row["job_name"]):
        found = find(phrase)
        if found is not None and _fits(found, row):
            return found
    return None


def _phrases(title: str) -> Iterator[str]:
    """Yield the runs of words of a title, the longest first; `A-B C` has the words A, B and C."""
    for text in (title, title.replace("-", " ")):
        words = [word.strip(",;:()") for word in re.split(r"[\s/]+|,\s", text)]
        for length in range(len(words), 0, -1):
            for start in range(len(words) - length + 1):
                yield " ".join(words[start : start + length])


def _fits(network: Architecture, row: pd.Series) -> bool:
    """Return whether a network has the stated size; a letter or two name none by themselves."""
    if row["params_b"] > 0:
        return abs(math.log(network.params / 1e9 / row["params_b"])) < SAME_PARAMS
    model = network.model()
    stated = {"layers": model.layers, "hidden": model.hidden}
    return all(not row[name] > 0 or row[name] == value for name, value in stated.items())


def _by_size(row: pd.Series) -> Architecture:
    params, active = row["params_b"], row["active_params_b"]
    if not params > 0:
        raise InvalidInputError("neither name nor size of the network is stated.", where="model")
    # What a device sees of a mixture spread over many is a network of the active parameters.
    return from_size(_size(active if active > 0 else params))


def _size(billions: float) -> str:
    return f"{round_significant(billions * 1e3):.6g}M"


def _nanochat(depth: int) -> Architecture:
    width = depth * WIDTH_PER_LAYER
    heads = max(1, width // NANOCHAT_HEAD)
    shape = DecoderShape(
        vocab=NANOCHAT_VOCAB, hidden=width, layers=depth, heads=heads, inner=4 * width
    )
    name = f"nanochat-d{depth}"
    return decoder(PLAIN, shape, name=name, title=name, sequence=2048)


def _by_depth(row: pd.Series) -> Architecture:
    """Return a decoder of the stated depth; its width follows from the parameters."""
    layers, params = int(row["layers"]), row["params_b"] * 1e9
    if row["hidden"] > 0:
        hidden = int(row["hidden"])
    elif params > 0:
        # 12·L·h² + V·h = parameters
        half = VOCAB / (24 * layers)
        width = math.sqrt(half**2 + params / (12 * layers)) - half
        hidden = USUAL_HEAD * max(1, round(width / USUAL_HEAD))
    else:
        raise InvalidInputError("neither width nor size of the network is stated.", where="model")
    heads = int(row["heads"]) if row["heads"] > 0 else max(1, hidden // USUAL_HEAD)
    shape = DecoderShape(vocab=VOCAB, hidden=hidden, layers=layers, heads=heads, inner=4 * hidden)
    name = f"{layers} layers of width {hidden}"
    return decoder(styles.MPT, shape, name=name, title=name, sequence=2048)


def spread_experts(model: Model) -> Model:
    """Return the dense network that a device sees of a mixture spread over many of them.

    With expert parallelism no device gathers experts that it does not hold: the work, and what
    is exchanged of it, is that of the active parameters.
    """
    update = {"params": model.active_params, "experts": 0, "experts_per_token": 0,
              "expert_params": 0.0, "family": "language"}  # fmt: skip
    return model.model_copy(update=update)


def masked_autoencoder(model: Model) -> Model:
    """Return a vision transformer as a masked autoencoder pre-trains it."""
    tokens = model.tokens_per_sample
    weights = 12 * DECODER_BLOCKS * DECODER_WIDTH**2
    scores = 4.0 * DECODER_BLOCKS * DECODER_WIDTH * tokens**2
    dense = model.forward_flops_per_sample - model.attention_flops_per_sample
    attention = VISIBLE**2 * model.attention_flops_per_sample + scores
    kept = 17.0 * DECODER_BLOCKS * DECODER_WIDTH * tokens
    return model.model_copy(
        update={
            "params": model.params + weights,
            "active_params": model.active_params + weights,
            "layers": model.layers + DECODER_BLOCKS,
            "forward_flops_per_sample": VISIBLE * dense + 2.0 * weights * tokens + attention,
            "attention_flops_per_sample": attention,
            "activation_elements_per_sample": VISIBLE * model.activation_elements_per_sample + kept,
        }
    )
