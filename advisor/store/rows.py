"""Measured runs as nouns, as rows of the tables and as frames."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pydantic import ValidationError
from sqlalchemy import BigInteger, Date, Double, String

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Profile, Provenance
from advisor.store import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Column, Row

PROFILE_FIELDS: Final = tuple(name for name in Profile.model_fields if name != "provenance")
PROVENANCE_FIELDS: Final = tuple(Provenance.model_fields)
# As JSON a character takes up to 12 bytes: a row fits into a line of a backup.
_LONGEST_TEXT: Final = 80_000
BOOKKEEPING: Final = ("content_hash", "id", "origin", "created_at", "state")

COLUMNS: Final[dict[str, Column[Any]]] = (
    {name: schema.profiles.c[name] for name in PROFILE_FIELDS}
    | {name: schema.provenance.c[name] for name in PROVENANCE_FIELDS}
    | {name: schema.profiles.c[name] for name in BOOKKEEPING}
)
"""The columns of a frame of measured runs, in order."""


def provenance_hash(provenance: Provenance) -> str:
    """Return the SHA-256 of all fields."""
    return hashlib.sha256(provenance.model_dump_json().encode()).hexdigest()


def check_text(fields: Iterable[tuple[str, Any]], where: str) -> None:
    """Refuse text that not every kind of database can keep, or no backup.

    Raises
    ------
    InvalidInputError
        If a text holds the character NUL or half a surrogate pair (it names the field), or the
        texts are too long together.
    """
    texts = [(name, value) for name, value in fields if isinstance(value, str)]
    if sum(len(value) for _, value in texts) > _LONGEST_TEXT:
        raise InvalidInputError(
            f"the text is longer than {_LONGEST_TEXT:,} characters.",
            where=f"{where}, {max(texts, key=lambda text: len(text[1]))[0]}",
            todo="Shorten it.",
        )
    check_signs(texts, where)


def check_signs(fields: Iterable[tuple[str, Any]], where: str) -> None:
    """Refuse text that not every kind of database can keep.

    Raises
    ------
    InvalidInputError
        If a text holds the character NUL or half a surrogate pair; names the field.
    """
    for name, value in fields:
        if isinstance(value, str) and ("\0" in value or not _encodable(value)):
            raise InvalidInputError(
                "the text holds a character that cannot be stored.",
                where=f"{where}, {name}",
                todo="Remove control characters.",
            )


def profile_row(
    content_hash: str, profile: Profile, *, provenance_id: int, origin: str, now: dt.datetime
) -> dict[str, Any]:
    """Return the row of a measured run."""
    row = dict(profile)
    del row["provenance"]
    return row | {
        "content_hash": content_hash,
        "provenance_id": provenance_id,
        "origin": origin,
        "created_at": now,
    }


def frame_of(rows: Sequence[Row[Any]]) -> pd.DataFrame:
    """Return rows of `COLUMNS` as a frame with the same column types whatever it holds."""
    values: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return pd.DataFrame(
        {
            name: pd.Series(list(column), dtype=_dtype(COLUMNS[name]))
            for name, column in zip(COLUMNS, values, strict=True)
        }
    )


def profiles_of(frame: pd.DataFrame, provenance: Provenance | None) -> list[Profile]:
    """Return the rows of a frame as measured runs.

    Parameters
    ----------
    frame : DataFrame
        Columns named like the fields of `Profile`; None and NaN mean unknown. Without
        `provenance` also columns named like its fields, of which ``source`` is required. What
        the store itself adds (`BOOKKEEPING`) is ignored.
    provenance : Provenance, optional
        Where all rows came from.

    Raises
    ------
    InvalidInputError
        If a column is unknown or a value cannot be used; names the row (its index) and column.
    """
    for column in frame.columns:
        if column not in COLUMNS:
            raise UnknownNameError("column", str(column), COLUMNS, where="frame")
    used = [c for c in frame.columns if c not in BOOKKEEPING]
    plain = frame[used].astype(object).where(frame[used].notna(), None)
    sources: dict[tuple[Any, ...], Provenance] = {}
    runs = []
    for label, fields in zip(plain.index, plain.to_dict("records"), strict=True):
        known = {str(k): v for k, v in fields.items() if v is not None}
        own = {k: known.pop(k) for k in PROVENANCE_FIELDS if k in known}
        try:
            origin = provenance or _shared(own, sources)
            runs.append(Profile(**known, provenance=origin))
        except ValidationError as error:
            column, message = explain(error)
            raise InvalidInputError(message, where=f"row {label}, column {column}") from None
    return runs


def explain(error: ValidationError) -> tuple[str, str]:
    """Return the column and the message of the first problem of a row."""
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    shown = f" (given: {first['input']!r})" if isinstance(first["input"], str | float | int) else ""
    return str(first["loc"][-1] if first["loc"] else ""), f"{message}{shown}."


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shared(fields: Mapping[str, Any], made: dict[tuple[Any, ...], Provenance]) -> Provenance:
    """Make a provenance once for all rows that name it."""
    key = tuple(sorted(fields.items()))
    if key not in made:
        made[key] = Provenance(**_as_dates(fields))
    return made[key]


def _as_dates(fields: Mapping[str, Any]) -> dict[str, Any]:
    # A frame holds days as moments at midnight.
    return {k: v.date() if isinstance(v, dt.datetime) else v for k, v in fields.items()}


def _dtype(column: Column[Any]) -> str:
    if column.name == "id":
        return "int64"
    kinds = {
        BigInteger: "float64",  # NaN stands for unknown
        Double: "float64",
        String: "str",
        Date: "datetime64[s]",
        schema.UtcDateTime: "datetime64[us, UTC]",
    }
    return kinds[type(column.type)]
