"""Corrected, marked as an outlier, deleted: the states of a measured run, and the way back.

A run that is not active stays in its table, so that nothing is lost and adding it again does not
bring it back unnoticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from sqlalchemy import delete, select, update

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Profile, Provenance
from advisor.store.profiles import Origin, adopt, batches, drop_unused_sources, insert_missing
from advisor.store.records import ABSENT
from advisor.store.rows import COLUMNS, PROFILE_FIELDS, PROVENANCE_FIELDS, explain
from advisor.store.schema import edits, profiles, provenance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from advisor.store.records import Edit

_CORRECTED: Final = "corrected by the user"
_WAS: Final = {"superseded": "corrected", "deleted": "deleted", "outlier": "marked as an outlier"}


def add_runs(
    connection: Connection, by_hash: Mapping[str, Profile], origin: Origin
) -> tuple[list[str], list[str]]:
    """Add the runs that the store has not.

    A seeded run that a user adds becomes the user's own.

    Returns
    -------
    tuple of list of str
        The content hashes of the new runs, and of those that the store had.
    """
    added = insert_missing(connection, by_hash, origin)
    known = sorted(by_hash.keys() - set(added))
    if origin == "user":
        adopt(connection, known)
    _keep_when_undone(connection, known)
    return added, known


def state_of(connection: Connection, key: str) -> str:
    """Return the state of a run.

    Raises
    ------
    UnknownNameError
        If there is no run with this content hash.
    """
    state = connection.scalar(select(profiles.c.state).where(profiles.c.content_hash == key))
    if state is None:
        raise UnknownNameError("run", key[:12], (), where="measured runs")
    return str(state)


def change_state(connection: Connection, key: str, state: str) -> str:
    """Put a run in use, or out of it, and return its state before.

    Raises
    ------
    UnknownNameError
        If there is no run with this content hash.
    InvalidInputError
        If it is in this state already, or was corrected or deleted.
    """
    before = state_of(connection, key)
    if before in {"superseded", "deleted"} or before == state:
        raise InvalidInputError(
            f"the run {key[:12]} was {_WAS.get(before, 'in use')} before.",
            where="measured runs",
            todo="Undo that edit to bring it back." if before in _WAS else "",
        )
    _set_state(connection, key, state)
    return before


def corrected(connection: Connection, key: str, changes: Mapping[str, Any]) -> Profile:
    """Return a run with some fields changed.

    Raises
    ------
    UnknownNameError
        If there is no such run or field.
    InvalidInputError
        If a value is out of range, or nothing changes.
    """
    for name in changes:
        if name not in PROFILE_FIELDS:
            raise UnknownNameError("field", name, PROFILE_FIELDS, where="correction")
    state_of(connection, key)
    old = _profile(connection, key)
    note = old.provenance.notes
    notes = note if _CORRECTED in note else "; ".join(filter(None, (note, _CORRECTED)))
    source = old.provenance.model_copy(update={"notes": notes})
    try:
        new = Profile.model_validate(dict(old) | dict(changes) | {"provenance": source})
    except ValidationError as error:
        column, message = explain(error)
        raise InvalidInputError(message, where=f"correction, {column}") from None
    if new.content_hash == key:
        raise InvalidInputError("the correction changes nothing.", where="correction")
    return new


def supersede(connection: Connection, old: str, new: Profile) -> tuple[str, str]:
    """Put a corrected run in the place of an old one.

    Returns
    -------
    tuple of str
        The states before, of the old and of the corrected run (`ABSENT` where it was new).

    Raises
    ------
    InvalidInputError
        If the old run was corrected or deleted before.
    """
    before = change_state(connection, old, "superseded")
    key = new.content_hash
    if insert_missing(connection, {key: new}, "user"):
        return before, ABSENT
    known = state_of(connection, key)
    _set_state(connection, key, "active")
    return before, known


def take_back(connection: Connection, edit: Edit) -> None:
    """Bring a run, and the one that superseded it, back to the states before an edit.

    Raises
    ------
    UnknownNameError
        If the run has left the store since.
    """
    state_of(connection, edit.subject)
    _set_state(connection, edit.subject, edit.before)
    if edit.other and edit.after == ABSENT:
        connection.execute(delete(profiles).where(profiles.c.content_hash == edit.other))
        drop_unused_sources(connection)
    elif edit.other:
        _set_state(connection, edit.other, edit.after)


def _keep_when_undone(connection: Connection, keys: Sequence[str]) -> None:
    """Note that corrected runs came by themselves too: undoing the correction leaves them."""
    for some in batches(keys):
        connection.execute(
            update(edits)
            .where(edits.c.other.in_(some), edits.c.after == ABSENT)
            .values(after="active")
        )


def _profile(connection: Connection, key: str) -> Profile:
    query = (
        select(*COLUMNS.values())
        .join_from(profiles, provenance)
        .where(profiles.c.content_hash == key)
    )
    row = connection.execute(query).mappings().one()
    source = Provenance(**{name: row[name] for name in PROVENANCE_FIELDS})
    return Profile(**{name: row[name] for name in PROFILE_FIELDS}, provenance=source)


def _set_state(connection: Connection, key: str, state: str) -> None:
    connection.execute(update(profiles).where(profiles.c.content_hash == key).values(state=state))
