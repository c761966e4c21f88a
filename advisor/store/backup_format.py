"""The form of a backup: a ZIP of one JSONL per table and a manifest; nothing in it is executed.

A backup of one kind of database can be restored into another. Moments are ISO 8601 in UTC, bytes
are Base64; numbers read back as they were.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import BigInteger, Date, Double, Integer, LargeBinary, String

from advisor.core.errors import InvalidInputError
from advisor.store.rows import check_signs
from advisor.store.schema import UtcDateTime, metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Column, Table

KIND: Final = "advisor backup"
FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
NOT_WHOLE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError
)  # fmt: skip
"""What `zipfile` raises on a file that is no ZIP, is damaged, encrypted or packed otherwise."""
TABLES: Final = tuple(metadata.sorted_tables)
"""All tables, those that others point to first."""

_LONGEST_WHOLE: Final = 2**63
_LONGEST_MANIFEST: Final = 2**20


class TableEntry(BaseModel):
    """What the manifest says about a table."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rows: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """The head of a backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["advisor backup"]
    format: int = FORMAT
    schema_revision: str
    advisor_version: str
    made_at: dt.datetime
    tables: dict[str, TableEntry]


@dataclass(frozen=True)
class BackupSummary:
    """What a backup holds.

    Parameters
    ----------
    made_at : datetime
        The moment of the backup [UTC].
    runs, own_runs, plans : int
        Measured runs in use, those that the user added, and saved plans.
    size_bytes : int
        Of the file.
    """

    made_at: dt.datetime
    runs: int
    own_runs: int
    plans: int
    size_bytes: int


def file_of(table: Table) -> str:
    """Return the name of a table's file in the backup."""
    return f"{table.name}.jsonl"


def read_manifest(archive: zipfile.ZipFile) -> Manifest:
    """Return the head of a backup.

    Raises
    ------
    ValidationError
        If the file is the manifest of something else, or was damaged.
    """
    with archive.open(MANIFEST) as file:
        return Manifest.model_validate_json(file.read(_LONGEST_MANIFEST))


def encode(row: Mapping[Any, Any]) -> bytes:
    """Return a row as a line."""
    return json.dumps(dict(row), default=_plain, allow_nan=False).encode() + b"\n"


def decode(line: bytes, table: Table, where: str) -> dict[str, Any]:
    """Return a line as the row of a table.

    Raises
    ------
    InvalidInputError
        If it is no row of this table: other columns, other types, out of range.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise bad("this is no JSON", where) from None
    if not isinstance(row, dict) or row.keys() != set(table.c.keys()):
        raise bad("the columns are not those of the table", where)
    try:
        values = {column.name: _value(column, row[column.name]) for column in table.c}
        check_signs(values.items(), where)
    except (ValueError, TypeError, OverflowError, InvalidInputError) as error:
        raise bad(str(error)[:200], where) from None
    return values


def bad(what: str, where: str) -> InvalidInputError:
    """Return the error of a backup that cannot be used."""
    return InvalidInputError(
        f"the backup is damaged or was changed ({what}); the store is as it was.",
        where=where,
        todo="Take another backup.",
    )


def _plain(value: object) -> str:
    if isinstance(value, dt.date):  # a moment is a day too
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} cannot be backed up")


def _value(column: Column[Any], value: object) -> object:
    """Return the value for a column; errors name it."""
    if value is None:
        if not column.nullable:
            raise ValueError(f"{column.name} is missing")
        return None
    if isinstance(column.type, (Integer, Double)):
        return _number(column, value)
    if not isinstance(value, str):
        raise TypeError(f"{column.name} is no text")
    return _from_text(column, value)


def _from_text(column: Column[Any], value: str) -> object:
    kind = column.type
    if isinstance(kind, UtcDateTime):
        moment = dt.datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError(f"{column.name} has no time zone")
        return moment
    if isinstance(kind, Date):
        return dt.date.fromisoformat(value)
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value, validate=True)
    if isinstance(kind, String) and kind.length is not None and len(value) > kind.length:
        raise ValueError(f"{column.name} is too long")
    return value


def _number(column: Column[Any], value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{column.name} is no number")
    if isinstance(column.type, Double):
        return float(value)
    limit = _LONGEST_WHOLE if isinstance(column.type, BigInteger) else 2**31
    if not isinstance(value, int) or not -limit <= value < limit:
        raise ValueError(f"{column.name} is no whole number in its range")
    return value
