"""How large a backup may be: what is written keeps to it, what is read is held to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.store.schema import catalog_snapshots, profiles

if TYPE_CHECKING:
    from collections.abc import Iterable
    from zipfile import ZipInfo

    from sqlalchemy import Table

MIB: Final = 2**20
CHUNK_ROWS: Final = 1000
CHUNK_BYTES: Final = 8 * MIB
"""Rows are read and inserted in parts of no more than this many rows or bytes [B]."""

_LONGEST_LINE: Final = 2 * MIB
_LONGEST_SNAPSHOT: Final = 32 * MIB
_MOST_BYTES: Final = 64 * MIB
_MOST_BYTES_LARGE: Final = 1024 * MIB
_LARGE: Final = (profiles, catalog_snapshots)
# Rows that repeat each other shrink 10 to 30 times, a bomb 1000 times.
_MOST_RATIO: Final = 200
_MOST_VALUES: Final = 1000


def longest_line(table: Table) -> int:
    """Return how long a row may be as JSON [B]."""
    return _LONGEST_SNAPSHOT if table is catalog_snapshots else _LONGEST_LINE


def most_bytes(table: Table) -> int:
    """Return how large a table may be as JSONL [B]."""
    return _MOST_BYTES_LARGE if table in _LARGE else _MOST_BYTES


def too_large(entries: Iterable[ZipInfo], tables: dict[str, Table]) -> str | None:
    """Return what is too large among the files of a backup, or None.

    Parameters
    ----------
    entries : iterable of ZipInfo
        The files; `zipfile` reads no more of each than it says.
    tables : dict
        The table of each file; what is none may be as large as a line.
    """
    for entry in entries:
        table = tables.get(entry.filename)
        if entry.file_size > (_LONGEST_LINE if table is None else most_bytes(table)):
            return f"{entry.filename[:40]!r} is larger than in any backup"
        if entry.file_size > max(MIB, _MOST_RATIO * entry.compress_size):
            return f"{entry.filename[:40]!r} is packed tighter than in any backup"
    return None


def too_many_values(line: bytes) -> bool:
    """Return whether a long line would become more objects than a row with one long value."""
    return len(line) > _LONGEST_LINE and sum(map(line.count, (b",", b"[", b"{"))) > _MOST_VALUES
