"""The seed: tables of published measurements that come with the program."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from advisor.core.errors import StoreError, nearest_names
from advisor.core.paths import TABLES_DIR
from advisor.domain import Profile, Provenance
from advisor.store.profiles import SeedResult
from advisor.store.rows import PROFILE_FIELDS, PROVENANCE_FIELDS, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.store.store import Store

_RUNS: Final = "runs*.csv"
_SOURCES: Final = "sources.csv"
_COLUMNS: Final = (*PROFILE_FIELDS, *PROVENANCE_FIELDS)


def seed(store: Store, directory: Path = TABLES_DIR / "profiles") -> SeedResult:
    """Bring the measured runs of the seed tables into the store, once.

    Where the tables are as they were the last time, this reads their bytes and does nothing.
    Where they changed, new rows are added and seeded rows that left are removed; the user's own
    runs stay.

    Parameters
    ----------
    store : Store
        Where to.
    directory : Path
        Holds ``sources.csv`` (columns named like the fields of `Provenance`) and ``runs*.csv``
        (columns named like the fields of `Profile`, and ``source``; empty means unknown; a
        ``url``, ``licence``, … of the row goes before that of its source). Without any
        ``runs*.csv`` nothing is done.

    Raises
    ------
    StoreError
        If a table cannot be read; the message names file, row and column. Rows are counted as a
        spreadsheet does: the head is row 1.
    """
    tables = sorted(directory.glob(_RUNS))
    if not tables:
        return SeedResult(added=0, removed=0, kept=0)
    fingerprint = _fingerprint([*tables, directory / _SOURCES])
    if fingerprint == store.seed_hash():
        return SeedResult(added=0, removed=0, kept=store.count(origin="seed"))
    sources = _read_sources(directory / _SOURCES)
    runs = [run for table in tables for run in _read_runs(table, sources)]
    return store.replace_seed(runs, fingerprint)


def _fingerprint(tables: Sequence[Path]) -> str:
    # The fields are part of every content hash: with other fields the rows are others too.
    digest = hashlib.sha256(" ".join(Profile.model_fields).encode())
    for table in tables:
        content = _content(table)
        digest.update(f"\n{table.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _read_sources(table: Path) -> dict[str, Provenance]:
    sources: dict[str, Provenance] = {}
    for number, row in _read(table):
        known = {name: text for name, text in row.items() if name in PROVENANCE_FIELDS}
        try:
            source = Provenance.model_validate(known)
        except ValidationError as error:
            column, message = explain(error)
            raise _bad(table, message, number, column) from None
        if source.source in sources:
            raise _bad(table, f"the source “{source.source}” stands twice.", number, "source")
        sources[source.source] = source
    return sources


def _read_runs(table: Path, sources: Mapping[str, Provenance]) -> Iterator[Profile]:
    made: dict[tuple[tuple[str, str], ...], Provenance] = {}
    for number, row in _read(table):
        for column in row.keys() - _COLUMNS:
            nearest = " or ".join(nearest_names(column, _COLUMNS))
            hint = f" Did you mean {nearest}?" if nearest else ""
            raise _bad(table, f"a run has no such field.{hint}", number, column)
        own = {name: row.pop(name) for name in PROVENANCE_FIELDS if name in row}
        source = sources.get(own.get("source", ""))
        if source is None:
            what = f"the source “{own.get('source', '')}” is not in {_SOURCES}."
            raise _bad(table, what, number, "source")
        try:
            # Runs with the same provenance share one object, and with it one row of the store.
            key = tuple(own.items())
            if key not in made:
                made[key] = Provenance.model_validate(dict(source) | own)
            yield Profile.model_validate(row | {"provenance": made[key]})
        except ValidationError as error:
            column, message = explain(error)
            raise _bad(table, message, number, column) from None


def _read(table: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows with their numbers; cells that are empty are left out."""
    rows = csv.reader(io.StringIO(_text(table), newline=""), strict=True)
    head: list[str] = []
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            head = head or row
            if len(row) != len(head):
                raise _bad(table, f"{len(row)} cells, but the head has {len(head)}.", number)
            if number > 1:
                yield number, {k: v for k, v in zip(head, row, strict=True) if v}
    except csv.Error as error:
        raise _bad(table, f"this is no CSV ({error}).", number + 1) from None


def _text(table: Path) -> str:
    content = _content(table)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise _bad(table, f"this is no text in UTF-8 ({error.reason}).", row) from None


def _content(table: Path) -> bytes:
    try:
        return table.read_bytes()
    except OSError as error:
        raise _bad(table, f"the table cannot be read ({error.strerror}).") from None


def _bad(table: Path, what: str, row: int | None = None, column: str = "") -> StoreError:
    where = str(table)
    where += f", row {row}" if row is not None else ""
    where += f", column {column}" if column else ""
    return StoreError(what, where=where, todo="Correct the table; the store is as it was.")
