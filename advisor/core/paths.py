"""Where things lie: the tables shipped with the project and the user's data directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import platformdirs

from advisor.core.errors import StoreError

TABLES_DIR: Final = Path(__file__).resolve().parents[2] / "data"


def data_dir() -> Path:
    """Return the directory of the user's own data, made if missing.

    It is ``ADVISOR_DATA_DIR`` or, by default, the platform's user data directory.

    Raises
    ------
    StoreError
        If it cannot be made.
    """
    chosen = os.environ.get("ADVISOR_DATA_DIR")
    path = Path(chosen) if chosen else Path(platformdirs.user_data_dir("training-advisor"))
    try:
        path = path.expanduser()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: no such user behind “~”
        reason = getattr(error, "strerror", None) or error
        raise StoreError(
            f"the data directory cannot be made ({reason}).",
            where=str(path),
            todo="Set ADVISOR_DATA_DIR to a directory that can be written.",
        ) from error
    return path
