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
_DAMAGED_SERVER: Final = (
    "the database is damaged ({}); nothing was deleted or changed.",
    "Restore a backup into a new database, and have the server's disk checked.",
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
_UNREACHABLE: Final = (
    "the database server cannot be reached ({}).",
    "Check host and port in ADVISOR_DATABASE_URL, and that the server runs, then repeat.",
)
_NOT_LET_IN: Final = (
    "the database server does not let this user in ({}).",
    "Check user and password in ADVISOR_DATABASE_URL; an @ in a password is written %40.",
)
_NO_DATABASE: Final = (
    "the server has no such database ({}).",
    "Correct its name in ADVISOR_DATABASE_URL, or make it: createdb NAME.",
)
_NO_PRIVILEGE: Final = (
    "this user may not do that in the database ({}); nothing was changed.",
    "Let its owner GRANT ALL ON SCHEMA public, and ON ALL TABLES IN SCHEMA public, to the user.",
)
_BUSY_SERVER: Final = (
    "the database server has no free connection ({}).",
    "Wait until other programs have finished, or raise max_connections, then repeat.",
)
_SHORT_OF: Final = (
    "the database server is short of what it needs ({}); nothing was written.",
    "Let its administrator look at its memory and limits, then repeat.",
)
_LOST: Final = (
    "the connection to the database server broke ({}); the change under way was not kept.",
    "Check that the server runs, then repeat.",
)
_READ_ONLY_SERVER: Final = (
    "the database is read-only ({}); nothing was written.",
    "Give the address of the primary server in ADVISOR_DATABASE_URL.",
)
_NOT_STORABLE: Final = (
    "a value cannot be stored ({}); nothing was written.",
    "Correct it: whole numbers go up to 9.2e18.",
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

# The longest prefix of the SQLSTATE counts; its first two characters are the class.
_BY_SQLSTATE: Final = {
    "08": _UNREACHABLE,
    "22": _NOT_STORABLE,
    "25006": _READ_ONLY_SERVER,
    "28": _NOT_LET_IN,
    "3D": _NO_DATABASE,
    "42501": _NO_PRIVILEGE,
    "53": _SHORT_OF,
    "53100": _FULL,
    "53300": _BUSY_SERVER,
    "55P03": _LOCKED,
    "57P": _LOST,
    "58": _BROKEN_DISK,
    "XX001": _DAMAGED_SERVER,
    "XX002": _DAMAGED_SERVER,
}

# Libpq gives no SQLSTATE where a connection fails, only the server's words.
_BY_WORDS: Final = (
    ("password", _NOT_LET_IN),
    ("authentication", _NOT_LET_IN),
    ("pg_hba.conf", _NOT_LET_IN),
    ("role ", _NOT_LET_IN),
    ("permission denied for database", _NO_PRIVILEGE),
    ("does not exist", _NO_DATABASE),
    ("too many connections", _BUSY_SERVER),
    ("too many clients", _BUSY_SERVER),
    ("remaining connection slots", _BUSY_SERVER),
    ("server closed the connection", _LOST),
    ("connection is lost", _LOST),
    ("connection is closed", _LOST),
    ("connection failed", _UNREACHABLE),
    ("connection timeout", _UNREACHABLE),
    ("resolve host", _UNREACHABLE),
)


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
    if code is not None:
        # The low byte is the kind, the rest a detail.
        return _error(_BY_SQLITE_CODE.get(code & 0xFF, _OTHER), str(error), where)
    state = getattr(error, "sqlstate", None) or ""
    for length in (5, 3, 2):
        if kind := _BY_SQLSTATE.get(state[:length]):
            return _error(kind, str(error), where)
    words = str(error).lower()
    found = (kind for word, kind in _BY_WORDS if word in words)
    return _error(_OTHER if state else next(found, _OTHER), str(error), where)


def damaged(detail: str, where: str) -> StoreError:
    """Return the error of a damaged file."""
    return _error(_DAMAGED, detail, where)


def _error(kind: tuple[str, str], detail: str, where: str) -> StoreError:
    what, todo = kind
    first_line = (detail.strip().splitlines() or ["no details"])[0]
    return StoreError(what.format(first_line), where=where, todo=todo)
