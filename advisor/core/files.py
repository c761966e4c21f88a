"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO


@contextmanager
def atomic(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its place only once it is complete and on the disk.

    What was there before stays, whatever fails, be it the power; a link stays a link, and a file
    that is replaced hands its permissions on.

    Parameters
    ----------
    path : Path
        Where the file belongs.
    private : bool
        Whether a new file is for its owner alone.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    target = path.resolve()
    beside = target.with_name(f".{secrets.token_hex(8)}.partial")
    mode = 0o600 if private else 0o666  # the process's mask takes its share
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
        _sync(target.parent)
    finally:
        beside.unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Bring the new name to the disk too."""
    if os.name == "nt":  # directories cannot be opened there
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
