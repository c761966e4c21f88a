"""The facade of the store: the only class that other rooms use."""

from __future__ import annotations

import datetime as dt
import zlib
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from advisor.core.errors import StoreError
from advisor.store import profiles as runs
from advisor.store import snapshots
from advisor.store.backup_methods import BackupMethods
from advisor.store.edit_methods import EditMethods
from advisor.store.failures import damaged
from advisor.store.plan_methods import PlanMethods
from advisor.store.profile_edits import add_runs
from advisor.store.rows import profiles_of
from advisor.store.schema import SEED, meta

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from advisor.domain import Profile, Provenance


class Store(PlanMethods, EditMethods, BackupMethods):
    """Measured runs, saved plans and catalog snapshots, kept in a database.

    Make it with `Store.open`. Threads may share it: each call has its own connection and its
    own transaction. Processes may open the same database at the same time. Every method raises
    `StoreError` if the database is damaged, locked, full or not writable; a change is kept
    whole or not at all.
    """

    def add(self, profiles: Iterable[Profile], *, origin: runs.Origin = "user") -> runs.AddResult:
        """Add measured runs, in one transaction; what the store has is left as it is.

        A seeded run that a user adds becomes the user's: it stays when it leaves the seed. A run
        that was deleted, corrected or marked as an outlier stays so; the result counts them.

        Raises
        ------
        InvalidInputError
            If a text cannot be stored; nothing is added then.
        StoreError
            If the database fails; nothing is added then.
        """
        given = list(profiles)
        by_hash = {profile.content_hash: profile for profile in given}
        with self._writing() as connection:
            added, known = add_runs(connection, by_hash, origin)
            states = runs.states(connection, known)
        return runs.AddResult(
            added=len(added),
            known=len(given) - len(added),
            deleted=states["deleted"],
            corrected=states["superseded"],
            outliers=states["outlier"],
        )

    def add_frame(
        self,
        frame: pd.DataFrame,
        provenance: Provenance | None = None,
        *,
        origin: runs.Origin = "user",
    ) -> runs.AddResult:
        """Add the rows of a frame, as `add` does.

        Parameters
        ----------
        frame : DataFrame
            Columns named like the fields of `Profile`; None and NaN mean unknown. What
            `profiles` returns can be added as it is.
        provenance : Provenance, optional
            Where all rows came from; by default the frame says so in columns ``source`` and, if
            known, ``url``, ``licence``, ``collected`` and ``notes``.
        origin : "seed" or "user"
            Who brought them.

        Raises
        ------
        InvalidInputError
            If a column or value cannot be used; the message names row and column.
        StoreError
            If the database fails; nothing is added then.
        """
        return self.add(profiles_of(frame, provenance), origin=origin)

    def profiles(self, **where: runs.Wanted) -> pd.DataFrame:
        """Return measured runs as a table: those in use, unless ``state`` is named.

        Parameters
        ----------
        **where
            Column and the value, or collection of values, it must have; None asks for nothing.
            ``state`` is ``"active"`` by default; others are ``"outlier"``, ``"superseded"`` and
            ``"deleted"``.

        Returns
        -------
        DataFrame
            The fields of `Profile` (SI units, NaN for unknown, empty text for unknown names),
            then ``source``, ``url``, ``licence``, ``collected``, ``notes``, ``content_hash``,
            ``id``, ``origin``, ``created_at`` [UTC] and ``state``. Rows are ordered by content
            hash, so that stores of equal content return equal tables.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        """
        with self._reading() as connection:
            return runs.select_frame(connection, where)

    def measured_runs(self, **where: runs.Wanted) -> list[Profile]:
        """Return measured runs as nouns, ordered by content hash; conditions as in `profiles`.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        """
        return profiles_of(self.profiles(**where), None)

    def count(self, **where: runs.Wanted) -> int:
        """Return the number of measured runs in use; conditions as in `profiles`.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        """
        with self._reading() as connection:
            return runs.count(connection, where)

    def data_hash(self) -> str:
        """Return a hash of the runs in use and their origin, as a key for what is fitted.

        It does not depend on the order in which they were added, nor on when.
        """
        with self._reading() as connection:
            return runs.data_hash(connection)

    def own_changes(self) -> runs.OwnChanges:
        """Return how the runs in use differ from the shipped ones."""
        with self._reading() as connection:
            return runs.own_changes(connection)

    def seed_hash(self) -> str:
        """Return the hash of the seed tables in the store, empty if there are none."""
        with self._reading() as connection:
            return connection.scalar(select(meta.c.value).where(meta.c.key == SEED)) or ""

    def replace_seed(self, profiles: Iterable[Profile], seed_hash: str) -> runs.SeedResult:
        """Make the seeded runs exactly these, in one transaction; the user's runs stay.

        Parameters
        ----------
        profiles : iterable of Profile
            All rows of the seed tables.
        seed_hash : str
            What `seed_hash` returns from now on.
        """
        by_hash = {profile.content_hash: profile for profile in profiles}
        with self._writing() as connection:
            removed = runs.keep_seeded(connection, by_hash.keys())
            added, known = add_runs(connection, by_hash, "seed")
            connection.execute(delete(meta).where(meta.c.key == SEED))
            connection.execute(insert(meta).values(key=SEED, value=seed_hash))
        return runs.SeedResult(len(added), removed, len(known))

    def add_snapshot(self, catalog_hash: str, content: bytes, *, as_of: dt.date, rows: int) -> bool:
        """Keep a catalog, compressed; return whether it was new.

        Parameters
        ----------
        catalog_hash : str
            The catalog's own hash, as plans name it.
        content : bytes
            The catalog in a form of the caller's choice.
        as_of : date
            The day its prices are of.
        rows : int
            Number of offers.
        """
        with self._writing() as connection:
            return snapshots.insert_snapshot(
                connection, catalog_hash, content, as_of=as_of, rows=rows
            )

    def snapshot(self, catalog_hash: str) -> snapshots.Snapshot:
        """Return a kept catalog.

        Raises
        ------
        StoreError
            If the store has none with this hash, or it is damaged.
        """
        try:
            with self._reading() as connection:
                found = snapshots.select_snapshot(connection, catalog_hash)
        except zlib.error as error:
            raise damaged(str(error), self.where) from None
        if found is None:
            raise StoreError(
                f"there is no catalog snapshot {catalog_hash}.",
                where=self.where,
                todo="Price the plan anew with the present catalog.",
            )
        return found
