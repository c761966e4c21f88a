"""How the store is backed up and restored."""

from __future__ import annotations

from pathlib import Path

from advisor.store.backup import write_backup
from advisor.store.backup_format import BackupSummary
from advisor.store.database import Database
from advisor.store.restore import restore_backup


class BackupMethods(Database):
    """Backups that move between kinds of database; a part of `Store`."""

    def backup(self, path: Path | str) -> BackupSummary:
        """Write everything into one file, as it is at one moment; others may write meanwhile.

        Parameters
        ----------
        path : path
            The file. A backup that is there already is replaced once the new one is complete;
            any other file is left as it is.

        Raises
        ------
        InvalidInputError
            If the file cannot be written.
        """
        with self._reading() as connection:
            return write_backup(connection, Path(path))

    def restore(self, path: Path | str, *, replace: bool = False) -> BackupSummary:
        """Put what a backup holds in the place of everything, in one transaction.

        Parameters
        ----------
        path : path
            What `backup` wrote, from this kind of database or another.
        replace : bool
            Whether plans, runs and edits of the user in this store may be lost.

        Raises
        ------
        InvalidInputError
            If the store holds something of the user's and `replace` is False; if the file is no
            backup, was damaged or changed, or comes from another version. The store is then as
            it was.
        """
        with self._writing() as connection:
            return restore_backup(connection, Path(path), replace=replace)
