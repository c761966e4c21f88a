"""Where the user's lists lie, and how they get there: whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.own.known import known
from advisor.catalog.own.parse import MOST_BYTES, Parsed, parse
from advisor.catalog.own.tables import TABLES
from advisor.catalog.own.writing import csv_text
from advisor.core.errors import CatalogError
from advisor.core.files import atomic
from advisor.core.paths import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from advisor.catalog.own.table import OwnTable, Row


def path_of(table: OwnTable) -> Path:
    """Return where a list lies."""
    return data_dir() / table.file


def stamp() -> str:
    """Return what changes with every change of the lists, without reading them."""
    folder = data_dir()
    stats = []
    for table in TABLES.values():
        try:
            found = (folder / table.file).stat()
        except OSError:
            stats.append("none")
        else:
            stats.append(f"{found.st_ino}.{found.st_mtime_ns}.{found.st_size}")
    return "/".join(stats)


def content_of(table: OwnTable) -> bytes | None:
    """Return the file of a list, None where there is none.

    Raises
    ------
    CatalogError
        If it cannot be read.
    """
    try:
        with path_of(table).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CatalogError(
            f"the file cannot be read ({error.strerror}).", where=table.file,
            todo="Make it readable, or remove it.",
        ) from None  # fmt: skip


def read(table: OwnTable) -> Parsed:
    """Return the list as it lies in the data directory; empty where there is none."""
    content = content_of(table)
    return Parsed(table, (), ()) if content is None else parse(content, table, known())


def save(table: OwnTable, rows: Iterable[Row]) -> None:
    """Replace a list; without rows it is removed.

    Raises
    ------
    CatalogError
        If it cannot be written; the list that was there stays.
    """
    rows = list(rows)
    if not rows:
        remove(table)
        return
    try:
        with atomic(path_of(table)) as file:
            file.write(csv_text(table, rows).encode())
    except OSError as error:
        raise _not_written(table, error) from error


def remove(table: OwnTable) -> bool:
    """Remove a list; return whether there was one.

    Raises
    ------
    CatalogError
        If it cannot be removed.
    """
    try:
        path_of(table).unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _not_written(table, error) from error
    return True


def _not_written(table: OwnTable, error: OSError) -> CatalogError:
    return CatalogError(
        f"the file cannot be changed ({error.strerror}).", where=table.file,
        todo="Free space, or set ADVISOR_DATA_DIR to a directory that can be written.",
    )  # fmt: skip
