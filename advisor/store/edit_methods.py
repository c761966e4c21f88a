"""How measured runs are corrected, left out or deleted, and how edits are undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.store import journal, plans, profile_edits
from advisor.store.database import Database
from advisor.store.records import Action, Edit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


class EditMethods(Database):
    """Edits of measured runs, own and shipped alike, and the journal; a part of `Store`."""

    def correct_profile(self, content_hash: str, changes: Mapping[str, Any]) -> Edit:
        """Correct a measured run; can be undone.

        A new run with the corrected fields, the user's own, takes the place of the old one,
        which stays in the store as ``superseded``. ``other`` of the edit is its content hash.

        Parameters
        ----------
        content_hash : str
            The run, as `profiles` names it.
        changes : mapping
            Fields of `Profile` and their right values; None: unknown.

        Raises
        ------
        UnknownNameError
            If there is no such run or field.
        InvalidInputError
            If a value cannot be used or nothing changes, or if the run was corrected or deleted
            before.
        """
        with self._writing() as connection:
            new = profile_edits.corrected(connection, content_hash, changes)
            before, after = profile_edits.supersede(connection, content_hash, new)
            return journal.record(
                connection, "correct", content_hash, other=new.content_hash, before=before,
                after=after,
            )  # fmt: skip

    def mark_outlier(self, content_hash: str, *, outlier: bool = True) -> Edit:
        """Keep a measured run out of what is trained on, or take it back in; can be undone.

        Raises
        ------
        UnknownNameError
            If there is no such run.
        InvalidInputError
            If it is marked so already, or was corrected or deleted.
        """
        action: Action = "mark_outlier" if outlier else "unmark_outlier"
        return self._change(content_hash, "outlier" if outlier else "active", action)

    def delete_profile(self, content_hash: str) -> Edit:
        """Delete a measured run; can be undone. Adding it again does not bring it back.

        Raises
        ------
        UnknownNameError
            If there is no such run.
        InvalidInputError
            If it was corrected or deleted before.
        """
        return self._change(content_hash, "deleted", "delete_profile")

    def edits(self, subject: str | None = None, *, most: int = 100) -> list[Edit]:
        """Return what was changed, newest first.

        Parameters
        ----------
        subject : str, optional
            Edits of this plan, finished run or measured run (its content hash) only.
        most : int
            How many.
        """
        with self._reading() as connection:
            return journal.select_edits(connection, subject, most)

    def undo(self, edit_id: int | None = None) -> Edit:
        """Take back an edit: the last one, or the one named; return it.

        Raises
        ------
        InvalidInputError
            If there is no such edit, it was undone before, or a later edit changed the same
            thing (which then has to be undone first).
        """
        with self._writing() as connection:
            edit = journal.edit_to_undo(connection, edit_id)
            _take_back(connection, edit)
            return journal.mark_undone(connection, edit)

    def _change(self, content_hash: str, state: str, action: Action) -> Edit:
        with self._writing() as connection:
            before = profile_edits.change_state(connection, content_hash, state)
            return journal.record(connection, action, content_hash, before=before, after=state)


def _take_back(connection: Connection, edit: Edit) -> None:
    match edit.action:
        case "rename_plan":
            plans.set_name(connection, edit.subject, edit.before)
        case "delete_plan":
            plans.set_deleted(connection, edit.subject, deleted=False)
        case "finish_plan":
            plans.hide_finished(connection, edit.subject)
        case _:
            profile_edits.take_back(connection, edit)
