"""A PostgreSQL server for all tests of the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from backup_examples import fill

from advisor.store import Store
from advisor.testing.postgres import NoServerError, PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server, started once; without one these tests fail where all must run (CI=1)."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(PostgresServer.started())
        except NoServerError as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(error))
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The address of a database that is empty and the test's own."""
    with postgres.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of an empty database, of each kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/advisor.db"


@pytest.fixture
def filled(any_url: str) -> Store:
    """A store with something of everything, in each kind of database."""
    with Store.open(any_url) as store:
        fill(store)
    return store


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a store with something of everything."""
    with Store.open(f"sqlite:///{tmp_path}/origin.db") as store:
        fill(store)
        store.backup(tmp_path / "a.backup")
    return tmp_path / "a.backup"


@pytest.fixture(params=["sqlite", "postgresql"])
def into_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Another empty database, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/into.db"
    else:
        with request.getfixturevalue("postgres").database() as url:
            yield url
