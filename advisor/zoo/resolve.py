"""Make an architecture of whatever a user gives: a name, a file, a configuration or a size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.zoo.base import Architecture
from advisor.zoo.hf.config import LONGEST_TEXT, from_hf_config
from advisor.zoo.lookup import find, names
from advisor.zoo.sizes import EXAMPLES, from_size, is_size

CONFIG_FILE: Final = "config.json"
LONGEST_PATH: Final = 4096
LONGEST_SHOWN: Final = 80


def resolve(text: str, *, files: bool = True) -> Architecture:
    """Return the architecture that `text` stands for.

    It is a name of the zoo, the path of a ``config.json`` or of the directory that holds it, the
    content of such a file, or a size such as “7B”. Without `files` no path is followed: text that
    came over the network must not open, or find out about, files of this machine.

    Raises
    ------
    InvalidInputError
        If it is none of them, or the file or configuration cannot be used.

    Examples
    --------
    >>> resolve("gpt2").title, resolve("1.3B dense").title
    ('GPT-2 small', '1.3B dense')
    """
    stripped = text.strip() if isinstance(text, str) else ""
    if not stripped:
        raise InvalidInputError(
            "a model is needed.",
            where="model",
            todo=f"Give a name such as “llama-2-7b”, a size such as {EXAMPLES}, or a config.json.",
        )
    if stripped[0] in "{[":
        return from_hf_config(stripped)
    if found := named(stripped):
        return found
    if files and (path := _existing(stripped)) is not None:
        return from_hf_config(_read(path), name=path.parent.name or path.stem)
    if _looks_like_path(stripped):
        if not files:
            raise InvalidInputError(
                "no file is read here.",
                where="model",
                todo="Paste the content of the config.json instead of its path.",
            )
        raise InvalidInputError(
            f"there is no file “{stripped[:LONGEST_SHOWN]}”.",
            where="model",
            todo="Check the path, or paste the content of the config.json.",
        )
    raise UnknownNameError("model", stripped[:LONGEST_SHOWN], names(), where="model")


def named(text: str) -> Architecture | None:
    """Return the architecture of a name or size; no file is read, so any text may be given.

    >>> named("7B dense").title, named("/etc/config.json")
    ('7B dense', None)
    """
    found = find(text)
    return found or (from_size(text) if is_size(text) else None)


def _existing(text: str) -> Path | None:
    """Return the configuration file at a path, if there is one."""
    if len(text) > LONGEST_PATH or "\n" in text or "\0" in text:
        return None
    try:
        path = Path(text).expanduser()
        if path.is_dir():
            path /= CONFIG_FILE
        return path.resolve() if path.is_file() else None
    except (OSError, RuntimeError):  # not permitted; no such user behind “~”
        return None


def _looks_like_path(text: str) -> bool:
    starts = text.startswith((os.sep, "~", f".{os.sep}", f"..{os.sep}"))
    return starts or text.casefold().endswith(".json")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LONGEST_TEXT:
            raise InvalidInputError(
                f"the file is larger than the {LONGEST_TEXT:,} bytes that are read at most.",
                where=str(path),
                todo="Give config.json, not weights or a tokenizer.",
            )
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"the file cannot be read as text ({type(error).__name__}).",
            where=str(path),
            todo="Give the config.json of a model.",
        ) from None
