"""Rows of the user's file, for a board that scores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES: Final = 256 * 2**20


def read_given_rows(path: Path) -> pd.DataFrame:
    """Return the rows of a CSV; an infinite number is one that is not known.

    Raises
    ------
    InvalidInputError
        If the file cannot be read as a table with rows.
    """
    where = path.name
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInputError("the file is too large.", where=where,
                                    todo=f"Give at most {MOST_BYTES >> 20} MiB.")  # fmt: skip
        frame = pd.read_csv(path, low_memory=False)
    except OSError as error:
        raise InvalidInputError(f"cannot be opened ({error.strerror}).", where=where,
                                todo="Give the path of a CSV file.") from error  # fmt: skip
    except ValueError as error:
        raise InvalidInputError(
            "is no CSV table.", where=where, todo="Give the columns of the board's own file."
        ) from error
    if frame.empty:
        raise InvalidInputError("has no rows.", where=where, todo="Give at least one row.")
    return frame.replace([np.inf, -np.inf], np.nan)
