"""Write a backup: one moment of the store, whole or not at all, while others write."""

from __future__ import annotations

import datetime as dt
import hashlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from advisor import __version__
from advisor.core.errors import InvalidInputError
from advisor.core.files import atomic
from advisor.store.backup_format import (
    KIND,
    MANIFEST,
    NOT_WHOLE,
    TABLES,
    BackupSummary,
    Manifest,
    TableEntry,
    encode,
    file_of,
    read_manifest,
)
from advisor.store.backup_limits import CHUNK_ROWS, longest_line, too_large
from advisor.store.schema import REVISION, plans, profiles

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def write_backup(connection: Connection, path: Path) -> BackupSummary:
    """Write all tables, as one transaction sees them, into a file.

    An older backup there is kept until the new one is complete.

    Raises
    ------
    InvalidInputError
        If the file cannot be written, or there is one that is no backup.
    """
    target = path.resolve()  # a link stays a link
    try:
        _check_target(target, path)
        with (
            atomic(target, private=True) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            manifest = _write_tables(connection, archive)
        size = target.stat().st_size
    except OSError as error:
        raise InvalidInputError(
            f"the backup cannot be written ({error.strerror}).", where=str(path),
            todo="Give a file in a directory with space that can be written.",
        ) from None  # fmt: skip
    return summary(connection, manifest, size)


def summary(connection: Connection, manifest: Manifest, size_bytes: int) -> BackupSummary:
    """Say what the tables hold that a backup was made of, or that were made of a backup."""
    active = select(func.count()).select_from(profiles).where(profiles.c.state == "active")
    kept = select(func.count()).select_from(plans).where(plans.c.deleted_at.is_(None))
    return BackupSummary(
        made_at=manifest.made_at,
        runs=connection.scalar(active) or 0,
        own_runs=connection.scalar(active.where(profiles.c.origin == "user")) or 0,
        plans=connection.scalar(kept) or 0,
        size_bytes=size_bytes,
    )


def is_backup(path: Path) -> bool:
    """Return whether a file has the head of a backup, of any version, and nothing beside."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = {MANIFEST, *(f"{table}.jsonl" for table in read_manifest(archive).tables)}
            return files == set(archive.namelist())
    except (OSError, *NOT_WHOLE, KeyError):
        return False


def _check_target(target: Path, path: Path) -> None:
    """Refuse to write over anything else, of all things the store itself."""
    if target.is_dir():
        raise InvalidInputError("this is a directory.", where=str(path), todo="Give a file.")
    if target.exists() and not (target.is_file() and is_backup(target)):
        raise InvalidInputError(
            "there is a file that is no backup; it was left as it is.",
            where=str(path),
            todo="Give another path, or remove the file first.",
        )


def _write_tables(connection: Connection, archive: zipfile.ZipFile) -> Manifest:
    entries = {table.name: _write_table(connection, archive, table) for table in TABLES}
    manifest = Manifest(
        kind=KIND,
        schema_revision=REVISION,
        advisor_version=__version__,
        made_at=dt.datetime.now(dt.UTC),
        tables=entries,
    )
    archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    if reason := too_large(archive.infolist(), {file_of(table): table for table in TABLES}):
        raise _unrestorable(reason)
    return manifest


def _unrestorable(reason: str) -> InvalidInputError:
    """Return the error of a store that no backup can hold: better now than at the restore."""
    return InvalidInputError(
        f"the store is too large for a backup ({reason}); nothing was written.",
        where="backup",
        todo="Copy the database with the tools of SQLite or PostgreSQL instead.",
    )


def _write_table(connection: Connection, archive: zipfile.ZipFile, table: Table) -> TableEntry:
    digest = hashlib.sha256()
    count = 0
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=CHUNK_ROWS)
    with archive.open(file_of(table), "w", force_zip64=True) as file:
        for row in connection.execute(query).mappings():
            line = encode(row)
            if len(line) > longest_line(table):
                raise _unrestorable(f"row {count + 1} of {table.name} is too long")
            file.write(line)
            digest.update(line)
            count += 1
    return TableEntry(rows=count, sha256=digest.hexdigest())
