"""Read a backup, as the work of a stranger: bounded, checked, and all of it or nothing."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import ValidationError
from sqlalchemy import Integer, delete, insert, select, text
from sqlalchemy.exc import IntegrityError

from advisor.core.errors import InvalidInputError
from advisor.domain import Profile, Provenance
from advisor.store.backup import summary
from advisor.store.backup_format import (
    FORMAT,
    MANIFEST,
    NOT_WHOLE,
    TABLES,
    BackupSummary,
    Manifest,
    bad,
    decode,
    file_of,
    read_manifest,
)
from advisor.store.backup_limits import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    longest_line,
    too_large,
    too_many_values,
)
from advisor.store.edit_checks import check_edits
from advisor.store.plans import clean_name, select_plans
from advisor.store.records import State
from advisor.store.rows import PROFILE_FIELDS, PROVENANCE_FIELDS, provenance_hash
from advisor.store.schema import REVISION, edits, plans, profiles, provenance, workloads

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Table

_METHODS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_STATES: Final = frozenset(get_args(State))


def restore_backup(connection: Connection, path: Path, *, replace: bool) -> BackupSummary:
    """Put what a backup holds in the place of all tables, inside the caller's transaction.

    Parameters
    ----------
    path : Path
        The backup.
    replace : bool
        Whether what the user keeps in the store may be lost.

    Raises
    ------
    InvalidInputError
        If the store holds something of the user's and `replace` is False, or the file is no
        backup, is damaged, or comes from another version.
    """
    if not replace and _holds_own(connection):
        raise InvalidInputError(
            "the store holds plans, runs or edits of your own, which a restore would replace.",
            where=str(path),
            todo="Back it up first, then restore with --force.",
        )
    if not path.is_file():
        raise InvalidInputError("there is no such file.", where=str(path))
    with _reading(path) as archive:
        manifest = _manifest(archive, path)
        for table in reversed(TABLES):
            connection.execute(delete(table))
        for table in TABLES:
            _fill(connection, archive, table, manifest, path)
        _check(connection, path)
        return summary(connection, manifest, path.stat().st_size)


def _holds_own(connection: Connection) -> bool:
    own = (
        select(profiles.c.id).where(profiles.c.origin == "user"),
        select(plans.c.id),
        select(edits.c.id),
    )
    return any(connection.execute(query.limit(1)).first() is not None for query in own)


@contextmanager
def _reading(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise InvalidInputError(
            f"the backup cannot be read ({error.strerror or error}).", where=str(path)
        ) from None
    except zipfile.BadZipFile as error:
        raise bad(f"it is no whole ZIP: {error}", str(path)) from None
    except NOT_WHOLE as error:
        raise bad(str(error), str(path)) from None
    except IntegrityError:
        raise bad("its tables contradict each other", str(path)) from None


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """Read and check the head; only files that a backup has are ever opened."""
    entries = archive.infolist()
    names = sorted(entry.filename for entry in entries)
    if MANIFEST not in names:
        raise _foreign(path)
    if reason := too_large(entries, {file_of(table): table for table in TABLES}):
        raise bad(reason, str(path))
    if any(entry.compress_type not in _METHODS or entry.flag_bits & 1 for entry in entries):
        raise bad("it is packed in another way", str(path))
    try:
        manifest = read_manifest(archive)
    except ValidationError as error:
        if any(cause["loc"] == ("kind",) for cause in error.errors()):
            raise _foreign(path) from None
        raise bad("its manifest cannot be read", str(path)) from None
    if (manifest.format, manifest.schema_revision) != (FORMAT, REVISION):
        raise InvalidInputError(
            f"the backup was made by version {manifest.advisor_version[:40]!r} of the advisor, "
            "which keeps its store in another form.",
            where=str(path),
            todo="Restore it with that version; this one then upgrades the store.",
        )
    expected = [MANIFEST, *map(file_of, TABLES)]
    if names != sorted(expected) or manifest.tables.keys() != {t.name for t in TABLES}:
        raise bad("files are missing or too many", str(path))
    return manifest


def _foreign(path: Path) -> InvalidInputError:
    return InvalidInputError(
        "this is no backup of the advisor.",
        where=str(path),
        todo="Give a file that “advisor backup” wrote.",
    )


def _fill(
    connection: Connection, archive: zipfile.ZipFile, table: Table, manifest: Manifest, path: Path
) -> None:
    digest = sha256()
    count = 0
    sources: dict[int, Provenance] = {}
    if table is profiles:
        found = connection.execute(select(provenance)).mappings()
        sources = {row["id"]: _provenance(row) for row in found}
    for chunk in _chunks(archive, table, digest, str(path)):
        for number, row in enumerate(chunk, start=count + 1):
            _check_row(table, row, sources, f"{path}, {table.name} {number}")
        connection.execute(insert(table), chunk)
        count += len(chunk)
    entry = manifest.tables[table.name]
    if (count, digest.hexdigest()) != (entry.rows, entry.sha256):
        raise bad(f"the checksum of {table.name} differs", str(path))
    counted = isinstance(table.primary_key.columns[0].type, Integer)
    if count and counted and connection.dialect.name == "postgresql":
        _continue_counting(connection, table)


def _chunks(
    archive: zipfile.ZipFile, table: Table, digest: hashlib._Hash, where: str
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in parts that fit into memory, however long the lines are."""
    longest = longest_line(table)
    with archive.open(file_of(table)) as file:
        chunk: list[dict[str, Any]] = []
        number = size = 0
        while line := file.readline(longest + 1):
            number += 1
            digest.update(line)
            place = f"{where}, {table.name} {number}"
            if len(line) > longest or too_many_values(line):
                raise bad("a row is longer than any", place)
            chunk.append(decode(line, table, place))
            size += len(line)
            if len(chunk) == CHUNK_ROWS or size >= CHUNK_BYTES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk


def _check_row(
    table: Table, row: dict[str, Any], sources: dict[int, Provenance], where: str
) -> None:
    """Refuse a row that the program would never have written."""
    try:
        if table is provenance and provenance_hash(_provenance(row)) != row["content_hash"]:
            raise bad("a source was changed", where)
        if table is workloads and sha256(row["content"].encode()).hexdigest() != row["hash"]:
            raise bad("a workload was changed", where)
        if table is profiles:
            fields = {name: row[name] for name in PROFILE_FIELDS}
            source = sources[row["provenance_id"]]
            run = Profile.model_validate(fields | {"provenance": source})
            if run.content_hash != row["content_hash"] or row["state"] not in _STATES:
                raise bad("a measured run was changed", where)
    except (ValidationError, KeyError):
        raise bad("a value is out of range", where) from None


def _provenance(row: Any) -> Provenance:
    return Provenance.model_validate({name: row[name] for name in PROVENANCE_FIELDS})


def _check(connection: Connection, path: Path) -> None:
    """Read back the plans and edits: what is no such noun is refused."""
    try:
        for deleted in (False, True):
            for saved in select_plans(connection, deleted=deleted):
                if clean_name(saved.name) != saved.name:
                    raise bad("the name of a plan was changed", str(path))
        check_edits(connection)
    except InvalidInputError:
        raise bad("a plan or an edit makes no sense", str(path)) from None


def _continue_counting(connection: Connection, table: Table) -> None:
    """Let new rows have ids after those restored; SQLite does so by itself."""
    connection.execute(
        text(
            f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608 - ours
            f"(SELECT max(id) FROM {table.name}))"
        )
    )
