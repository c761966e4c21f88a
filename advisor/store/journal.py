"""The journal of edits: what was changed, and the way back."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from sqlalchemy import insert, or_, select, update

from advisor.core.errors import InvalidInputError
from advisor.store.records import Action, Edit
from advisor.store.schema import edits

if TYPE_CHECKING:
    from sqlalchemy import Connection


def record(
    connection: Connection,
    action: Action,
    subject: str,
    *,
    other: str = "",
    before: str = "",
    after: str = "",
) -> Edit:
    """Write down a change that the same transaction makes."""
    now = dt.datetime.now(dt.UTC)
    fields = {"made_at": now, "action": action, "subject": subject, "other": other,
              "before": before, "after": after}  # fmt: skip
    key = connection.execute(insert(edits).values(**fields)).inserted_primary_key
    return Edit.make(id=key[0] if key else 0, **fields)


def select_edits(connection: Connection, subject: str | None, most: int | None) -> list[Edit]:
    """Return edits, newest first; of one thing if `subject` names it, all if `most` is None."""
    query = select(edits).order_by(edits.c.id.desc()).limit(most)
    if subject is not None:
        query = query.where(or_(edits.c.subject == subject, edits.c.other == subject))
    return [Edit.make(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - public


def edit_to_undo(connection: Connection, edit_id: int | None) -> Edit:
    """Return the edit with this id, or the last one that was not undone.

    Raises
    ------
    InvalidInputError
        If there is none, it was undone before, or a later edit changed the same thing.
    """
    query = select(edits).order_by(edits.c.id.desc()).limit(1)
    if edit_id is None:
        query = query.where(edits.c.undone_at.is_(None))
    else:
        query = query.where(edits.c.id == edit_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        what = "there is nothing to undo." if edit_id is None else f"there is no edit {edit_id}."
        raise InvalidInputError(what, where="undo")
    edit = Edit.make(**row._mapping)  # noqa: SLF001 - public in spite of its name
    if edit.undone_at is not None:
        raise InvalidInputError(f"edit {edit.id} was undone before.", where="undo")
    _check_last(connection, edit)
    return edit


def mark_undone(connection: Connection, edit: Edit) -> Edit:
    """Write down that an edit was undone."""
    now = dt.datetime.now(dt.UTC)
    connection.execute(update(edits).where(edits.c.id == edit.id).values(undone_at=now))
    return edit.model_copy(update={"undone_at": now})


def corrections(connection: Connection) -> list[tuple[str, str]]:
    """Return the corrections in force, oldest first: the runs before and after each."""
    query = (
        select(edits.c.subject, edits.c.other)
        .where(edits.c.action == "correct", edits.c.undone_at.is_(None))
        .order_by(edits.c.id)
    )
    return [(subject, other) for subject, other in connection.execute(query)]


def _check_last(connection: Connection, edit: Edit) -> None:
    """Refuse an edit on which a later one builds."""
    touched = [name for name in (edit.subject, edit.other) if name]
    later = connection.scalar(
        select(edits.c.id)
        .where(edits.c.id > edit.id, edits.c.undone_at.is_(None))
        .where(or_(edits.c.subject.in_(touched), edits.c.other.in_(touched)))
        .order_by(edits.c.id.desc())
        .limit(1)
    )
    if later is not None:
        raise InvalidInputError(
            f"edit {later} changed the same after edit {edit.id}.",
            where="undo",
            todo=f"Undo edit {later} first.",
        )
