"""The address of the store: understood, refused where it is odd, and shown without secrets."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from advisor.core.errors import StoreError
from advisor.core.paths import data_dir

FILE_NAME: Final = "advisor.db"
_TODO: Final = (
    "Write it like sqlite:////directory/advisor.db or postgresql://user:password@host/database, "
    "or leave it out."
)
# What libpq is told after the question mark: some of it may be shown, some never.
_SHOWN: Final = frozenset({
    "application_name", "channel_binding", "gssencmode", "host", "port", "sslcert", "sslmode",
    "sslrootcert", "target_session_attrs", "user",
})  # fmt: skip
_HIDDEN: Final = frozenset({"options", "passfile", "password", "sslkey", "sslpassword"})
# Names, IPv4, IPv6 with a zone, directories of sockets, and lists of them.
_HOST: Final = re.compile(r"[\w.,:/%-]*")


def resolve(url: str | None) -> URL:
    """Return the address of the database.

    Parameters
    ----------
    url : str, optional
        An SQLAlchemy URL of an SQLite file or a PostgreSQL database; by default
        ``ADVISOR_DATABASE_URL``, else ``advisor.db`` in the data directory.

    Raises
    ------
    StoreError
        If the address cannot be understood, names another kind of database, or one in memory,
        which would be a new one in every call. The message never repeats the address: what is
        odd in it may be a piece of a password.
    """
    text = url or os.environ.get("ADVISOR_DATABASE_URL")
    if not text:
        return URL.create("sqlite", database=str((data_dir() / FILE_NAME).resolve()))
    where = "address of the store" if url else "ADVISOR_DATABASE_URL"
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError):  # the latter of a port that is no number
        raise StoreError("the address of the store is no URL.", where=where, todo=_TODO) from None
    kind = parsed.get_backend_name()
    if kind in {"postgresql", "postgres"}:
        _check_server(text, parsed, where)
        return parsed.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise StoreError(
            f"databases of the kind “{kind}” cannot hold the store.", where=where, todo=_TODO
        )
    if parsed.username or parsed.password or parsed.host or parsed.port or parsed.query:
        raise StoreError(
            "the address of a file has no user, host or settings.", where=where, todo=_TODO
        )
    if not parsed.database or parsed.database.startswith((":memory:", "file:")):
        raise StoreError("the store needs a file.", where=where, todo=_TODO)
    return parsed.set(database=str(Path(parsed.database).resolve()))


def readable(url: URL) -> str:
    """Return the file, or the address without its secrets, for messages."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    shown = url.set(
        drivername=url.get_backend_name(),
        query={name: value for name, value in url.query.items() if name in _SHOWN},
    )
    return shown.render_as_string(hide_password=True)


def _check_server(text: str, url: URL, where: str) -> None:
    """Refuse what is likely a password that was cut, before anything shows a piece of it."""
    hosts = unquote(",".join([url.host or "", *url.normalized_query.get("host", ())]))
    if text.count("@") > 1 or "@" in hosts or not _HOST.fullmatch(hosts):
        raise StoreError(
            "the host of the database cannot be told from the user and the password.",
            where=where,
            todo="In a user, a password or a setting write @ as %40, / as %2F and : as %3A.",
        )
    if not url.query.keys() <= _SHOWN | _HIDDEN:
        raise StoreError(
            "the address of the store holds a setting that is not known.",
            where=where,
            todo=f"After ? these can be given: {', '.join(sorted(_SHOWN | _HIDDEN))}; "
            "in a password write ? as %3F and & as %26.",
        )
