"""Find an architecture by its name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.zoo import tables
from advisor.zoo.base import Architecture

QUALIFIER: Final = re.compile(
    r"[-_ .](hf|base|chat|instruct|it|pt|uncased|pretrained|fp16|bf16|v\d+(\.\d+)*|\d{4})$"
)
"""What repositories append to a name without changing the architecture."""
LONGEST_NAME: Final = 200


def names() -> list[str]:
    """Return the canonical names of all architectures, in alphabetical order."""
    return sorted(_by_name())


def get(name: str) -> Architecture:
    """Return the architecture of a name.

    Upper and lower case, punctuation, the owner of a repository and endings such as ``-hf`` make
    no difference.

    Raises
    ------
    UnknownNameError
        If there is none; the error offers the nearest names.
    InvalidInputError
        If `name` is no text or empty.

    Examples
    --------
    >>> get("meta-llama/Llama-2-7b-hf").name, get("resnet50").name
    ('llama-2-7b', 'resnet-50')
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(
            "a model name is needed.", where="model", todo="Give one, for example “llama-2-7b”."
        )
    found = find(name)
    if found is None:
        raise UnknownNameError("model", name.strip()[:LONGEST_NAME], names(), where="model")
    return found


def find(name: str) -> Architecture | None:
    """Return the architecture of a name, or None."""
    known = _by_folded_name()
    return next((known[key] for key in _readings(name) if key in known), None)


def _readings(name: str) -> Iterator[str]:
    """Yield what a name may mean: as it is, without its owner, without its last endings."""
    whole = name.strip()[:LONGEST_NAME].casefold()
    yield fold(whole)
    rest = whole.rsplit("/", 1)[-1]
    while rest:
        yield fold(rest)
        shorter = QUALIFIER.sub("", rest)
        rest = shorter if shorter != rest else ""


def fold(name: str) -> str:
    """Return what is left of a name without case and punctuation.

    A point between digits stays: OPT-1.3B is not OPT-13B.

    >>> fold("ViT-B/16") == fold("vit_b_16"), fold("OPT-1.3B")
    (True, 'opt1.3b')
    """
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^a-z0-9.]", "", name.casefold())


@cache
def _by_name() -> dict[str, Architecture]:
    found: dict[str, Architecture] = {}
    for module in pkgutil.iter_modules(tables.__path__):
        table = importlib.import_module(f"{tables.__name__}.{module.name}")
        for architecture in getattr(table, "MODELS", ()):
            if architecture.name in found:
                raise ValueError(f"two architectures are called {architecture.name!r}")
            found[architecture.name] = architecture
    return found


@cache
def _by_folded_name() -> dict[str, Architecture]:
    folded: dict[str, Architecture] = {}
    for architecture in _by_name().values():
        for name in {
            fold(n) for n in (architecture.name, architecture.title, *architecture.aliases)
        }:
            if name in folded:
                raise ValueError(f"two architectures are known as {name!r}")
            folded[name] = architecture
    return folded
