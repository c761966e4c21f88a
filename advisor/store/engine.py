"""From an address to an SQLAlchemy engine and its transactions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from advisor.core.errors import StoreError
from advisor.core.paths import data_dir
from advisor.store.failures import explained
from advisor.store.options import WRITE
from advisor.store.postgresql import make_postgresql_engine
from advisor.store.sqlite import make_sqlite_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

FILE_NAME: Final = "advisor.db"
_URL_TODO: Final = (
    "Write it like sqlite:////directory/advisor.db or postgresql://user:password@host/database, "
    "or leave it out."
)
_SECRETS: Final = {"password", "sslpassword", "passfile", "sslkey"}


def resolve(url: str | None) -> URL:
    """Return the address of the database.

    Parameters
    ----------
    url : str, optional
        An SQLAlchemy URL of an SQLite file or a PostgreSQL database; by default
        ``ADVISOR_DATABASE_URL``, else ``advisor.db`` in the data directory.

    Raises
    ------
    StoreError
        If the address cannot be understood, names another kind of database, or one in memory,
        which would be a new one in every call. No message repeats a password.
    """
    text = url or os.environ.get("ADVISOR_DATABASE_URL")
    if not text:
        return URL.create("sqlite", database=str((data_dir() / FILE_NAME).resolve()))
    try:
        parsed = make_url(text)
    except ArgumentError:
        # The text may hold a password: it is not repeated.
        raise StoreError("the address of the store is no URL.", todo=_URL_TODO) from None
    if parsed.get_backend_name() in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() != "sqlite":
        raise StoreError(
            f"databases of the kind “{parsed.get_backend_name()}” cannot hold the store.",
            where="ADVISOR_DATABASE_URL" if url is None else "address of the store",
            todo=_URL_TODO,
        )
    if not parsed.database or parsed.database.startswith((":memory:", "file:")):
        raise StoreError("the store needs a file.", where=text, todo=_URL_TODO)
    return parsed.set(database=str(Path(parsed.database).resolve()))


def readable(url: URL) -> str:
    """Return the file, or the address without its password, for messages."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    shown = url.set(
        drivername=url.get_backend_name(),
        query={name: value for name, value in url.query.items() if name not in _SECRETS},
    )
    return shown.render_as_string(hide_password=True)


def make_engine(url: URL, wait_s: float) -> Engine:
    """Return an engine whose connections are ready for the store.

    Parameters
    ----------
    url : URL
        As `resolve` returns it.
    wait_s : float
        How long to wait for another writer [s].

    Raises
    ------
    StoreError
        If the file is damaged.
    """
    if url.get_backend_name() == "sqlite":
        return make_sqlite_engine(url, wait_s)
    return make_postgresql_engine(url, wait_s)


@contextmanager
def transaction(engine: Engine, where: str, *, write: bool = False) -> Iterator[Connection]:
    """Open a connection for one transaction: all of it is kept, or nothing.

    Raises
    ------
    StoreError
        If the database cannot be opened, read or written.
    """
    with (
        explained(where),
        engine.connect().execution_options(**{WRITE: write}) as connection,
        connection.begin(),
    ):
        yield connection
