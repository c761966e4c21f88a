"""Statements on the tables of measured runs; each runs inside the caller's transaction."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import ColumnElement, delete, func, insert, select, update

from advisor.core.errors import UnknownNameError
from advisor.store.rows import COLUMNS, check_text, frame_of, profile_row, provenance_hash
from advisor.store.schema import edits, profiles, provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from sqlalchemy import Column, Connection

    from advisor.domain import Profile, Provenance

Origin = Literal["seed", "user"]
Wanted = str | float | Collection[str] | Collection[float] | None

# Databases limit the number of values in a statement; 999 is the lowest limit in use.
_BATCH: Final = 900


@dataclass(frozen=True)
class AddResult:
    """What became of the runs that were added.

    Parameters
    ----------
    added : int
        New ones.
    known : int
        Those that the store had, or that were given twice.
    deleted, corrected, outliers : int
        How many of the known ones stay out of use, because they were deleted, corrected or
        marked as an outlier before. Undoing that edit brings them back.
    """

    added: int
    known: int
    deleted: int = 0
    corrected: int = 0
    outliers: int = 0


@dataclass(frozen=True)
class SeedResult:
    """How many runs the seed tables added, how many left, how many stayed."""

    added: int
    removed: int
    kept: int


@dataclass(frozen=True)
class OwnChanges:
    """How the runs in use differ from the shipped ones.

    Parameters
    ----------
    shipped : str
        SHA-256 of all shipped runs, in use or not.
    added : frozenset of str
        Content hashes of the user's runs in use.
    left_out : frozenset of str
        Content hashes of shipped runs that the user marked, corrected or deleted.
    """

    shipped: str
    added: frozenset[str]
    left_out: frozenset[str]


def insert_missing(
    connection: Connection, by_hash: Mapping[str, Profile], origin: Origin
) -> list[str]:
    """Add the runs that the store has not, and return their hashes.

    Raises
    ------
    InvalidInputError
        If a text cannot be stored.
    """
    have = set(_among(connection, profiles.c.content_hash, list(by_hash)))
    fresh = {key: run for key, run in by_hash.items() if key not in have}
    if fresh:
        sources = {id(run.provenance): run.provenance for run in fresh.values()}
        for noun in (*fresh.values(), *sources.values()):
            check_text(noun, "measured run")
        ids = _provenance_ids(connection, sources)
        now = dt.datetime.now(dt.UTC)
        connection.execute(
            insert(profiles),
            [
                profile_row(key, run, provenance_id=ids[id(run.provenance)], origin=origin, now=now)
                for key, run in fresh.items()
            ],
        )
    return list(fresh)


def adopt(connection: Connection, hashes: Sequence[str]) -> None:
    """Make seeded runs the user's own, so that they stay when they leave the seed tables."""
    for some in batches(hashes):
        connection.execute(
            update(profiles)
            .where(profiles.c.content_hash.in_(some), profiles.c.origin == "seed")
            .values(origin="user")
        )


def states(connection: Connection, hashes: Sequence[str]) -> Counter[str]:
    """Return how many of the runs are in which state."""
    found: Counter[str] = Counter()
    for some in batches(hashes):
        query = select(profiles.c.state).where(profiles.c.content_hash.in_(some))
        found.update(connection.scalars(query))
    return found


def keep_seeded(connection: Connection, wanted: Collection[str]) -> int:
    """Delete the seeded runs that are not wanted, and return their number.

    Those that the user left out stay: what comes back to the seed tables stays left out. Those
    that an edit names stay too, so that it can be undone.
    """
    edited = [
        select(column).where(edits.c.undone_at.is_(None))
        for column in (edits.c.subject, edits.c.other)
    ]
    seeded = connection.scalars(
        select(profiles.c.content_hash).where(
            profiles.c.origin == "seed",
            profiles.c.state == "active",
            *(profiles.c.content_hash.not_in(names) for names in edited),
        )
    ).all()
    gone = [key for key in seeded if key not in wanted]
    for some in batches(gone):
        connection.execute(delete(profiles).where(profiles.c.content_hash.in_(some)))
    if gone:
        drop_unused_sources(connection)
    return len(gone)


def drop_unused_sources(connection: Connection) -> None:
    """Delete every provenance that no run has."""
    in_use = select(profiles.c.provenance_id)
    connection.execute(delete(provenance).where(provenance.c.id.not_in(in_use)))


def select_frame(connection: Connection, where: Mapping[str, Wanted]) -> pd.DataFrame:
    """Return the runs that meet all conditions, ordered by content hash.

    Raises
    ------
    UnknownNameError
        If a condition names no column.
    """
    query = (
        select(*COLUMNS.values())
        .join_from(profiles, provenance)
        .where(*_conditions(where))
        .order_by(profiles.c.content_hash)
    )
    return frame_of(connection.execute(query).all())


def count(connection: Connection, where: Mapping[str, Wanted]) -> int:
    """Return the number of runs that meet all conditions.

    Raises
    ------
    UnknownNameError
        If a condition names no column.
    """
    query = select(func.count()).select_from(profiles).join(provenance).where(*_conditions(where))
    return int(connection.scalar(query) or 0)


def data_hash(connection: Connection) -> str:
    """Return the SHA-256 of the content hashes and origins of active runs, whatever their order."""
    query = select(profiles.c.content_hash, profiles.c.origin).where(profiles.c.state == "active")
    rows = connection.execute(query).all()
    text = "\n".join(sorted(f"{key} {origin}" for key, origin in rows))
    return hashlib.sha256(text.encode()).hexdigest()


def own_changes(connection: Connection) -> OwnChanges:
    """Return how the runs in use differ from the shipped ones."""
    query = select(profiles.c.content_hash, profiles.c.origin, profiles.c.state)
    shipped: list[str] = []
    added: set[str] = set()
    left_out: set[str] = set()
    for key, origin, state in connection.execute(query):
        if origin == "seed":
            shipped.append(key)
            if state != "active":
                left_out.add(key)
        elif state == "active":
            added.add(key)
    digest = hashlib.sha256("\n".join(sorted(shipped)).encode()).hexdigest()
    return OwnChanges(digest, frozenset(added), frozenset(left_out))


def batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the values in parts that fit into a statement."""
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


def _provenance_ids(connection: Connection, sources: Mapping[int, Provenance]) -> dict[int, int]:
    """Return the row of each provenance, added if missing; keys are identities of objects."""
    hashes = {identity: provenance_hash(source) for identity, source in sources.items()}
    have = set(_among(connection, provenance.c.content_hash, list(set(hashes.values()))))
    fresh = {hashes[i]: source for i, source in sources.items() if hashes[i] not in have}
    if fresh:
        connection.execute(
            insert(provenance), [dict(s) | {"content_hash": key} for key, s in fresh.items()]
        )
    found: dict[str, int] = {}
    for some in batches(list(set(hashes.values()))):
        query = select(provenance.c.content_hash, provenance.c.id).where(
            provenance.c.content_hash.in_(some)
        )
        found.update((row.content_hash, row.id) for row in connection.execute(query))
    return {identity: found[key] for identity, key in hashes.items()}


def _among(connection: Connection, column: Column[str], values: Sequence[str]) -> Iterator[str]:
    """Yield the values that the column holds."""
    for some in batches(values):
        yield from connection.scalars(select(column).where(column.in_(some)))


def _conditions(where: Mapping[str, Wanted]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    # Whoever names no state wants what is in use.
    for name, wanted in {"state": "active", **where}.items():
        if name not in COLUMNS:
            raise UnknownNameError("column", name, COLUMNS, where="profiles")
        column: Column[Any] = COLUMNS[name]
        if isinstance(wanted, Collection) and not isinstance(wanted, str):
            conditions.append(column.in_(list(wanted)))
        elif wanted is not None:
            conditions.append(column == wanted)
    return conditions
