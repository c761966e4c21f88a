"""SQLite's ways: a write-ahead log, a lock for the writer, files that are damaged."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import URL, NullPool, create_engine, event

from advisor.store.failures import damaged
from advisor.store.options import WRITE

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_MAGIC: Final = b"SQLite format 3\0"


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


def make_sqlite_engine(url: URL, wait_s: float) -> Engine:
    """Return an engine for a file; parameters and errors as of `make_engine`."""
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
        write = connection.get_execution_options().get(WRITE)
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
