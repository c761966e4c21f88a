"""PostgreSQL's ways: one writer at a time, readers that see one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, NullPool, create_engine, event

from advisor.store.options import WRITE

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

# Any number will do that other programs in the same database do not use.
_WRITER_LOCK: Final = 7_318_041_266


def make_postgresql_engine(url: URL, wait_s: float) -> Engine:
    """Return an engine for a database of a server; parameters as of `make_engine`."""
    # A connection per call, closed after it: safe in threads and after a fork. Libpq takes whole
    # seconds, and waits for ever at 0.
    timeout = {"connect_timeout": min(max(2, round(wait_s)), 10)}
    engine = create_engine(url, poolclass=NullPool, connect_args=timeout)

    @event.listens_for(engine, "begin")
    def _(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITE):
            # The lock goes with the transaction. The next writer's statements see all of it.
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(1000 * wait_s))}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITER_LOCK})")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    return engine
