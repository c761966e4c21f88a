"""Values of a program's call, as forgiving as options of the command line and checked as they."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Sequence
from pathlib import Path

from advisor.core.errors import InvalidInputError
from advisor.core.units import parse_count

Amount = float | str  # 10e9, or as a person writes it: "10 B"
Names = str | list[str] | tuple[str, ...]
Quotas = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
MOST_BYTES = 2_000_000
# What stands between cells and rows, or begins JSON: such a text is not a path.
_OF_TEXTS = re.compile(r"[,;{\t\n]")
_NOT_A_TEXT = "it is not UTF-8, or its name is not possible"


def count_of(name: str, value: object) -> float | None:
    """Return a number above 0, None for None.

    Raises
    ------
    InvalidInputError
        If it is none; the message names the argument.

    >>> count_of("tokens", "10 B"), count_of("tokens", 5), count_of("tokens", None)
    (10000000000.0, 5.0, None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        raise InvalidInputError(f"{value} is not a number.", where=name)
    if isinstance(value, str):
        read = parse_count(value, name)
    elif isinstance(value, numbers.Real):
        read = float(value)
    else:
        raise InvalidInputError(f"{value!r:.40} is not a number.", where=name)
    if not (math.isfinite(read) and read > 0):
        raise InvalidInputError(f"{value} is not a number above 0.", where=name)
    return read


def whole_of(name: str, value: object) -> int | None:
    """Return a whole number above 0, None for None.

    Raises
    ------
    InvalidInputError
        If it is none; the message names the argument.

    >>> whole_of("global_batch", "1,024"), whole_of("global_batch", 256.0)
    (1024, 256)
    """
    read = count_of(name, value)
    if read is not None and not read.is_integer():
        raise InvalidInputError(f"{value} is not a whole number.", where=name)
    return None if read is None else int(read)


def names_of(name: str, value: Names | None) -> list[str]:
    """Return names given as a list, or as one text with commas.

    Raises
    ------
    InvalidInputError
        If it is anything else.

    >>> names_of("clouds", "aws, gcp"), names_of("clouds", ["aws"]), names_of("clouds", None)
    (['aws', 'gcp'], ['aws'], [])
    """
    texts = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInputError(
            "names are texts.", where=name, todo=f'Write {name}="A" or {name}=["A", "B"].'
        )
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def texts_of(name: str, value: Quotas | None) -> list[str]:
    """Return texts that are given as they are, or as paths of files that hold them.

    Raises
    ------
    InvalidInputError
        If a file cannot be read or is too large, or the value is neither.

    >>> texts_of("quotas", "p4d.24xlarge,4"), texts_of("quotas", None)
    (['p4d.24xlarge,4'], [])
    """
    if value is None:
        return []
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_text_of(name, one) for one in value]
    return [_text_of(name, value)]


def _text_of(name: str, value: object) -> str:
    if isinstance(value, str) and (_OF_TEXTS.search(value) or not value.strip()):
        return value
    if not isinstance(value, str | os.PathLike):
        raise InvalidInputError(
            f"{value!r:.40} is neither a text nor a path.", where=name, todo="Give one of them."
        )
    path = Path(value)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInputError(
                f"the file is larger than {MOST_BYTES / 1e6:g} MB.", where=f"{name}, {path.name}"
            )
        return content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else _NOT_A_TEXT
        raise InvalidInputError(
            f"the file cannot be read ({said}).",
            where=f"{name}, {path.name}",
            todo="Give the path of a text file, or the text itself.",
        ) from None
