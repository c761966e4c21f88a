"""Bring a database to the newest schema, or say why not."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from advisor.core.errors import StoreError
from advisor.store.engine import transaction
from advisor.store.schema import REVISION

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, Engine

# Alembic keeps the migration under way in global variables.
_alembic = threading.Lock()


def migrate(engine: Engine, where: str) -> None:
    """Make or upgrade the tables, in one transaction.

    Any number of processes may do this at the same moment: the first does the work, the others
    wait for it.

    Raises
    ------
    StoreError
        If the database was written by a newer version of this program, or fails.
    """
    with transaction(engine, where) as connection:
        if _revision(connection) == REVISION:
            return
    with _alembic, transaction(engine, where, write=True) as connection:
        revision = _revision(connection)
        if revision != REVISION:
            _upgrade(connection, revision, where)


def alembic_config(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration, which no file holds.

    Parameters
    ----------
    connection : Connection, optional
        Where the migrations shall run, with its transaction begun.
    """
    from alembic.config import Config  # noqa: PLC0415 - slow, and needed for changes only

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    # The parser of the configuration reads % as the start of a variable.
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


def _upgrade(connection: Connection, revision: str | None, where: str) -> None:
    from alembic import command  # noqa: PLC0415 - slow, and needed for changes only
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - same

    config = alembic_config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise StoreError(
            f"the store was written by a newer version of the advisor (its schema is {revision}, "
            f"this version knows up to {REVISION}); nothing was changed.",
            where=where,
            todo="Update the advisor, or set ADVISOR_DATA_DIR to another directory.",
        )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    command.upgrade(config, "head")
