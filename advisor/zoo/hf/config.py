"""Read a Hugging Face ``config.json``. Nothing is executed and nothing is fetched."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final

from advisor.core.errors import InvalidInputError
from advisor.core.units import NBSP, count
from advisor.zoo.base import Architecture
from advisor.zoo.hf.decoders import DECODERS, generic_fields, read_decoder
from advisor.zoo.hf.fields import Fields
from advisor.zoo.hf.others import OTHERS

LONGEST_TEXT: Final = 1_000_000
LONGEST_NAME: Final = 100
LARGEST_PARAMS: Final = 1e15
USUAL_FIELDS: Final = ("hidden_size", "num_hidden_layers", "num_attention_heads")
SOURCE: Final = "configuration file"
WHERE: Final = "config.json"


def from_hf_config(text: str, name: str = "") -> Architecture:
    """Return the architecture that a ``config.json`` describes.

    A model type that is not known but has the usual fields is read as a Llama-like decoder; the
    architecture says so in its assumptions.

    Parameters
    ----------
    text : str
        The content of the file.
    name : str
        What to call the architecture; by default the name in the file, or its type and size.

    Raises
    ------
    InvalidInputError
        If the text is no such configuration, or fields are missing or wrong.
    """
    values = _parse(text)
    assumptions: tuple[str, ...] = ()
    inner = values.get("text_config")
    if isinstance(inner, dict) and not any(field in values for field in USUAL_FIELDS):
        assumptions = ("only the language part of the configuration is counted",)
        values = inner
    kind = values.get("model_type")
    kind = kind[:LONGEST_NAME] if isinstance(kind, str) else ""
    label = (name or _label(values)).strip().rstrip("/").rsplit("/", 1)[-1][:LONGEST_NAME]
    architecture = _read(values, kind, label or kind or "custom", assumptions)
    size = count(architecture.params).replace(NBSP, "")
    if architecture.params > LARGEST_PARAMS:
        raise InvalidInputError(
            f"the fields describe a model of {size} parameters, more than can be meant.",
            where=WHERE,
            todo="Paste the config.json of the model as its repository has it.",
        )
    if label:
        return architecture
    title = f"{kind or 'custom'} {size}"
    return replace(architecture, name=_slug(title), title=title)


def _read(
    values: dict[str, Any], kind: str, label: str, assumptions: tuple[str, ...]
) -> Architecture:
    fields = Fields(values, kind or "no model_type")
    if kind in OTHERS:
        architecture = OTHERS[kind](fields, label)
        return replace(architecture, name=_slug(label), title=label, source=SOURCE)
    names = DECODERS.get(kind)
    if names is None:
        if not any(field in values for field in USUAL_FIELDS):
            raise InvalidInputError(
                f"the model type “{kind}” is not known and the usual fields "
                f"({', '.join(USUAL_FIELDS)}) are missing."
                if kind
                else f"“model_type” and the usual fields ({', '.join(USUAL_FIELDS)}) are missing.",
                where=WHERE,
                todo="Paste the config.json of a model, or name a model or a size such as “7B”.",
            )
        names = generic_fields(fields)
        known = f"model type “{kind}” is not known" if kind else "no model type is given"
        assumptions += (f"{known}: read as a Llama-like decoder",)
    architecture = read_decoder(fields, names, name=label, source=SOURCE, assumptions=assumptions)
    return replace(architecture, name=_slug(label))


def _parse(text: str) -> dict[str, Any]:
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError(
            "the configuration is empty.",
            where=WHERE,
            todo="Paste the content of the config.json of the model.",
        )
    if len(text) > LONGEST_TEXT:
        raise InvalidInputError(
            f"the configuration has {len(text):,} characters; {LONGEST_TEXT:,} are read at most.",
            where=WHERE,
            todo="Paste config.json only, not weights or a tokenizer.",
        )
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"this is not JSON that can be read ({_why(error)}).",
            where=WHERE,
            todo="Paste the content of the config.json of the model, with its braces.",
        ) from None
    if not isinstance(values, dict):
        raise InvalidInputError(
            "a JSON object is needed, with braces around its fields.",
            where=WHERE,
            todo="Paste the content of the config.json of the model.",
        )
    return values


def _why(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


def _label(values: dict[str, Any]) -> str:
    """Return the name that the file gives itself."""
    given = values.get("_name_or_path")
    return given if isinstance(given, str) else ""


def _slug(title: str) -> str:
    """Return a canonical name: lower case with hyphens."""
    slug = re.sub(r"[^a-z0-9.]+", "-", title.casefold()).strip("-")
    return slug or "custom"
