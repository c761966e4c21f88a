"""Published facts of the networks in measured runs, found however a source spells the name."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

import pandas as pd

from advisor.core.paths import TABLES_DIR
from advisor.zoo.lookup import find, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.zoo.base import Architecture

# What sources append to the name of a network without changing its shape.
ENDINGS: Final = re.compile(
    r"\s*(?:\[[^\]]*\]|\([^)]*\)|[-_ .](?:hf|chat|instruct|it|uncased|cased|pretrained|bf16|fp16"
    r"|fp8|pre-?train(?:ing)?|fine-?tun(?:e|ing)|sft|lora|training|v\d+(?:\.\d+)?))\s*$",
    re.IGNORECASE,
)
SIZE: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)
UNITS: Final = {"b": 1e9, "m": 1e6}
# Several experts of a size are no network of that size.
EXPERTS: Final = re.compile(r"\d\s*x\s*\d", re.IGNORECASE)


@functools.lru_cache(maxsize=1)
def model_facts() -> pd.DataFrame:
    """Published shapes and FLOPs of networks, by the label of a source."""
    tables = sorted((TABLES_DIR / "profiles").glob("model_facts*.csv"))
    return pd.concat([pd.read_csv(table) for table in tables]).set_index("model")


def facts_of_models(labels: pd.Series) -> pd.DataFrame:
    """Return the facts of each label: the table's, else the zoo's, else the size in its name.

    Returns
    -------
    DataFrame
        Columns of `model_facts`, one row per label with its index; NaN where nothing is known.
    """
    known = {label: _facts(str(label)) for label in labels.unique()}
    found = pd.DataFrame.from_dict(known, orient="index", columns=model_facts().columns)
    facts = found.reindex(labels)
    facts.index = labels.index
    numbers = facts.columns.drop("source")
    return facts.astype(dict.fromkeys(numbers, float))


@functools.lru_cache(maxsize=8192)
def _facts(label: str) -> dict[str, object]:
    table, folded = model_facts(), _by_folded_label()
    for reading in _readings(label):
        if reading in table.index:
            return dict(table.loc[reading])
        if fold(reading) in folded:
            return dict(table.loc[folded[fold(reading)]])
    for reading in _readings(label):
        if (architecture := find(reading)) is not None:
            return _facts_of_zoo(architecture)
    return _facts_of_size(label)


@functools.lru_cache(maxsize=1)
def _by_folded_label() -> dict[str, str]:
    return {fold(str(label)): str(label) for label in reversed(model_facts().index)}


def _readings(label: str) -> Iterator[str]:
    """Yield a label as it is, then without its owner, then without one ending after another."""
    rest = label.strip()
    yield rest
    rest = rest.rsplit("/", 1)[-1]
    while rest:
        yield rest
        shorter = ENDINGS.sub("", rest)
        rest = shorter if shorter != rest else ""


def _facts_of_zoo(architecture: Architecture) -> dict[str, object]:
    """Return the shape of a transformer over tokens, the work and layers of any other network."""
    model = architecture.model()
    facts: dict[str, object] = {"params": model.params, "layers": model.layers, "source": "zoo"}
    if model.vocab and model.hidden:
        active = model.active_params if model.active_params < model.params else None
        return facts | {
            "active_params": active, "hidden": model.hidden, "heads": model.heads,
            "kv_heads": model.kv_heads, "vocab": model.vocab,
        }  # fmt: skip
    return facts | {
        "reference_size": model.resolution or 0,
        "forward_gmacs": model.forward_flops_per_sample / 2e9,
    }


def _facts_of_size(label: str) -> dict[str, object]:
    """Return the parameters that a name states: “Falcon-7B”, “GPT 126M”."""
    stated = None if EXPERTS.search(label) else SIZE.search(label.replace("_", " "))
    if stated is None:
        return {}
    return {"params": float(stated[1]) * UNITS[stated[2].lower()], "source": "its name"}
