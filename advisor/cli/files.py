"""Writing a file that the user asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.errors import InvalidInputError
from advisor.core.files import atomic

if TYPE_CHECKING:
    from pathlib import Path


def check_place(path: Path) -> None:
    """Refuse a path that cannot become a file, before the work is done.

    Raises
    ------
    InvalidInputError
        If it is a directory or lies in none.
    """
    if path.is_dir():
        raise InvalidInputError("this is a directory.", where=str(path), todo="Give a file.")
    if not path.parent.is_dir():
        raise InvalidInputError(
            "there is no such directory.", where=str(path.parent), todo="Make it first."
        )


def write_text(path: Path, text: str) -> None:
    """Write text as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: an older one is kept until the new one is complete.

    Raises
    ------
    InvalidInputError
        If it cannot be written.
    """
    try:
        target = path.resolve()  # a link stays a link
        if target.exists() and not target.is_file():
            target.write_bytes(content)  # a pipe cannot be replaced
            return
        with atomic(target) as file:
            file.write(content)
    except OSError as error:
        raise InvalidInputError(
            f"the file cannot be written ({error.strerror}).", where=str(path),
            todo="Give another path.",
        ) from error  # fmt: skip
