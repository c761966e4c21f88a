"""Catalog snapshots: what a saved plan was priced with, kept word for word."""

from __future__ import annotations

import datetime as dt
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import insert, select

from advisor.store.schema import catalog_snapshots

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MOST_BYTES: Final = 2**30


@dataclass(frozen=True)
class Snapshot:
    """A catalog as it was.

    Parameters
    ----------
    hash : str
        The catalog's own hash, as plans name it.
    as_of : date
        The day its prices are of.
    rows : int
        Number of offers.
    stored_at : datetime
        When the store took it [UTC].
    content : bytes
        The catalog, in the form in which it was given.
    """

    hash: str
    as_of: dt.date
    rows: int
    stored_at: dt.datetime
    content: bytes


def insert_snapshot(
    connection: Connection, key: str, content: bytes, *, as_of: dt.date, rows: int
) -> bool:
    """Keep a snapshot unless the store has it; return whether it was new."""
    column = catalog_snapshots.c.hash
    if connection.scalar(select(column).where(column == key)) is not None:
        return False
    connection.execute(
        insert(catalog_snapshots).values(
            hash=key,
            as_of=as_of,
            rows=rows,
            stored_at=dt.datetime.now(dt.UTC),
            content=zlib.compress(content),
        )
    )
    return True


def select_snapshot(connection: Connection, key: str) -> Snapshot | None:
    """Return the snapshot with this hash, or None.

    Raises
    ------
    zlib.error
        If what is stored was damaged, or unpacks to more than any catalog.
    """
    query = select(catalog_snapshots).where(catalog_snapshots.c.hash == key)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return Snapshot(row.hash, row.as_of, row.rows, row.stored_at, _unpacked(row.content))


def _unpacked(content: bytes) -> bytes:
    # It may come from a backup, and a backup from anyone.
    unpacking = zlib.decompressobj()
    whole = unpacking.decompress(content, _MOST_BYTES)
    if not unpacking.eof:
        raise zlib.error("the snapshot is cut off or too large")
    return whole
