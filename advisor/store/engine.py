"""From an address to an SQLAlchemy engine and its transactions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from advisor.store.failures import explained
from advisor.store.options import WRITE
from advisor.store.postgresql import make_postgresql_engine
from advisor.store.sqlite import make_sqlite_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL, Connection, Engine


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
