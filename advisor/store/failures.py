"""What went wrong in the database, in words for people."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from advisor.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED: Final = (
    "the store is damaged ({}); nothing was deleted or changed.",
    "Move the file away with its -wal and -shm files (a new store is made), or restore a backup.",
)
_NOT_WRITABLE: Final = (
    "the store cannot be opened for writing ({}); what it holds is unharmed.",
    "Make the directory and the file writable, or set ADVISOR_DATA_DIR to another directory.",
)
_FULL: Final = (
    "there is no space left for the store ({}); nothing was written, what it holds is unharmed.",
    "Make room on the disk, then repeat.",
)
_LOCKED: Final = (
    "another program is writing to the store and did not finish in time ({}).",
    "Wait for it to finish or stop it, then repeat.",
)
_BROKEN_DISK: Final = (
    "the disk did not read or write the store ({}); nothing was written.",
    "Check that the disk is healthy, connected and not full, then repeat.",
)
_OTHER: Final = (
    "the database refused ({}); nothing was written.",
    "Check that the address names a database of the advisor and that it can be reached.",
)

_BY_SQLITE_CODE: Final = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_IOERR: _BROKEN_DISK,
}


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn failures of the database into `StoreError`.

    Parameters
    ----------
    where : str
        The file or the address of the database.

    Raises
    ------
    StoreError
        Instead of any error of SQLAlchemy or of the driver. The driver's trace is dropped:
        the message carries what a person can use.
    """
    try:
        yield
    except DBAPIError as error:
        raise explain(error.orig, where) from None
    except SQLAlchemyError as error:
        raise _error(_OTHER, str(error), where) from None
    except OverflowError:
        raise StoreError(
            "a whole number is too large to be stored; nothing was written.",
            where=where,
            todo="Correct the profile: counts go up to 9.2e18.",
        ) from None


def explain(error: BaseException | None, where: str) -> StoreError:
    """Return the `StoreError` that says what an error of the driver means."""
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the kind, the rest a detail.
    kind = _OTHER if code is None else _BY_SQLITE_CODE.get(code & 0xFF, _OTHER)
    return _error(kind, str(error), where)


def damaged(detail: str, where: str) -> StoreError:
    """Return the error of a damaged file."""
    return _error(_DAMAGED, detail, where)


def _error(kind: tuple[str, str], detail: str, where: str) -> StoreError:
    what, todo = kind
    first_line = (detail.strip().splitlines() or ["no details"])[0]
    return StoreError(what.format(first_line), where=where, todo=todo)
