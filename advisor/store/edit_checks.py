"""Whether the journal of a backup fits its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from advisor.core.errors import InvalidInputError
from advisor.store.journal import select_edits
from advisor.store.plans import clean_name
from advisor.store.schema import finished_runs, plans, profiles

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from advisor.store.records import Edit

_OF_PLANS: Final = {"rename_plan", "delete_plan"}


def check_edits(connection: Connection) -> None:
    """Refuse edits that the program would never have written: undoing them would do harm.

    What an undone edit named may be gone since.

    Raises
    ------
    InvalidInputError
        If an edit has states or names that no such edit has, or changed what is not there.
    """
    runs = set(connection.scalars(select(profiles.c.content_hash)))
    kept = set(connection.scalars(select(plans.c.id)))
    query = select(finished_runs.c.id, finished_runs.c.plan_id)
    plan_of = {row.id: row.plan_id for row in connection.execute(query)}
    for edit in select_edits(connection, None, None):
        if not _names_are_clean(edit):
            raise InvalidInputError("no plan has such a name.", where=f"edit {edit.id}")
        if edit.action in _OF_PLANS:
            here = edit.subject in kept
        elif edit.action == "finish_plan":
            here = plan_of.get(edit.subject) == edit.before
        else:
            here = runs.issuperset(filter(None, (edit.subject, edit.other)))
        if not here and edit.undone_at is None:
            raise InvalidInputError("what was changed is not there.", where=f"edit {edit.id}")


def _names_are_clean(edit: Edit) -> bool:
    names = {"rename_plan": (edit.before, edit.after), "delete_plan": (edit.before,)}
    return all(clean_name(name) == name for name in names.get(edit.action, ()))
