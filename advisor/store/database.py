"""The connection behind the store: open, close, read, write."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from advisor.store.address import readable, resolve
from advisor.store.engine import make_engine, transaction
from advisor.store.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from sqlalchemy import Connection, Engine


class Database:
    """A database with the newest schema, and how the parts of the store reach it.

    Parameters
    ----------
    engine : Engine
        Connects to the database.
    where : str
        The file or the address, for messages.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self.where = where

    @classmethod
    def open(cls, url: str | None = None, *, wait_s: float = 30.0) -> Self:
        """Open the store, made or upgraded first where needed.

        Parameters
        ----------
        url : str, optional
            SQLAlchemy URL of the database; by default ``ADVISOR_DATABASE_URL``, else the file
            ``advisor.db`` in the data directory.
        wait_s : float
            How long to wait for another writer [s].

        Raises
        ------
        StoreError
            If the database cannot be opened, is damaged (it is left as it is), or was written
            by a newer version of this program.
        """
        address = resolve(url)
        engine = make_engine(address, wait_s)
        try:
            migrate(engine, readable(address))
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, readable(address))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with transaction(self._engine, self.where) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with transaction(self._engine, self.where, write=True) as connection:
            yield connection
