"""From an address to an SQLAlchemy engine; the only module that knows SQLite's ways."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from advisor.core.errors import StoreError
from advisor.core.paths import data_dir
from advisor.store.failures import damaged, explained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

FILE_NAME: Final = "advisor.db"
_URL_TODO: Final = "Write it like sqlite:////directory/advisor.db, or leave it out."
_MAGIC: Final = b"SQLite format 3\0"
_WRITE: Final = "advisor_write"


def resolve(url: str | None) -> URL:
    """Return the address of the database.

    Parameters
    ----------
    url : str, optional
        An SQLAlchemy URL; by default ``ADVISOR_DATABASE_URL``, else ``advisor.db`` in the
        data directory.

    Raises
    ------
    StoreError
        If the address cannot be understood or names a database in memory, which would be a
        new one in every call.
    """
    text = url or os.environ.get("ADVISOR_DATABASE_URL")
    if not text:
        return URL.create("sqlite", database=str((data_dir() / FILE_NAME).resolve()))
    try:
        parsed = make_url(text)
    except ArgumentError:
        # The text may hold a password: it is not repeated.
        raise StoreError("the address of the store is no URL.", todo=_URL_TODO) from None
    if parsed.get_backend_name() != "sqlite":
        return parsed
    if not parsed.database or parsed.database.startswith((":memory:", "file:")):
        raise StoreError("the store needs a file.", where=text, todo=_URL_TODO)
    return parsed.set(database=str(Path(parsed.database).resolve()))


def readable(url: URL) -> str:
    """Return the file, or the address without its password, for messages."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.render_as_string(hide_password=True)


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
        If the file is damaged, or no driver for this kind of database is installed.
    """
    try:
        if url.get_backend_name() == "sqlite":
            return _make_sqlite_engine(url, wait_s)
        return create_engine(url, pool_pre_ping=True)
    except (NoSuchModuleError, ImportError) as error:
        raise StoreError(
            f"databases of this kind cannot be used here ({error}).",
            where=readable(url),
            todo="Install its Python driver, or leave the address out to use a file.",
        ) from None


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
        engine.connect().execution_options(**{_WRITE: write}) as connection,
        connection.begin(),
    ):
        yield connection


def check_file(path: Path) -> None:
    """Refuse a file that is no whole SQLite database, before SQLite touches it.

    Raises
    ------
    StoreError
        If the file is something else, or its last page is cut off (SQLite itself sees missing
        pages, but takes a missing end of the last one for zeros).
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        # Absent, or not readable: opening it makes it, or explains.
        return
    if size == 0:
        return
    if not head.startswith(_MAGIC) or len(head) < 100:
        raise damaged("it is not an SQLite database", str(path))
    # The file format writes 65536 as 1. A write-ahead log may still hold the missing part.
    page_bytes = int.from_bytes(head[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    log = path.with_name(f"{path.name}-wal")
    if page_bytes and size % page_bytes and not (log.exists() and log.stat().st_size):
        raise damaged("its end is missing", str(path))


def _make_sqlite_engine(url: URL, wait_s: float) -> Engine:
    check_file(Path(str(url.database)))
    # A connection per call, closed after it: safe in threads and after a fork.
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": wait_s})

    @event.listens_for(engine, "connect")
    def _(connection: sqlite3.Connection, _record: Any) -> None:
        # Python's driver must not begin transactions by itself: see below.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")
        _enter_wal(connection, wait_s)

    @event.listens_for(engine, "begin")
    def _(connection: Connection) -> None:
        # A writer takes its lock at once: a lock that a reader asks for later can fail
        # without waiting, because another writer changed what was read.
        write = connection.get_execution_options().get(_WRITE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _enter_wal(connection: sqlite3.Connection, wait_s: float) -> None:
    """Switch the file to a write-ahead log, once in its life.

    SQLite does not wait when two processes switch at the same moment, so this does.
    """
    deadline = time.monotonic() + wait_s
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            # Where the file system cannot share memory the mode stays as it was; that is
            # slower, and as safe.
            return
