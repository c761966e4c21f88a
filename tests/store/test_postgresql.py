"""The store on PostgreSQL: the contract, and what only a server can do."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql

from advisor.core.errors import StoreError
from advisor.store import Store, schema
from advisor.store.failures import explain
from advisor.store.postgresql import _WRITER_LOCK
from advisor.testing.postgres import PostgresServer
from advisor.testing.store import StoreContract
from advisor.testing.store_runs import run

SECRET = "hunter2"  # noqa: S105 - no secret, and must not be shown all the same


class TestPostgresql(StoreContract):
    @pytest.fixture
    def store_url(self, postgres_url: str) -> str:
        return postgres_url


def said(url: str, wait_s: float = 2.0) -> str:
    """Return what opening the store complains about."""
    with pytest.raises(StoreError) as caught:
        Store.open(url, wait_s=wait_s)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.__cause__ is None
    return message


def test_the_address_from_the_environment_opens_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, own_data_dir: Path
) -> None:
    monkeypatch.setenv("ADVISOR_DATABASE_URL", postgres_url)
    with Store.open() as store:
        assert store.where.startswith("postgresql://postgres:***@127.0.0.1:")
        store.add([run()])
    with Store.open(postgres_url.replace("postgresql://", "postgres://")) as store:
        assert store.count() == 1
    assert list(own_data_dir.iterdir()) == []


def test_migrations_lead_to_the_tables(postgres_url: str) -> None:
    with Store.open(postgres_url) as store, store._reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, schema.metadata) == []


def test_an_unreachable_server_is_named() -> None:
    message = said(f"postgresql://me:{SECRET}@127.0.0.1:1/mine")
    assert message.startswith("postgresql://me:***@127.0.0.1:1/mine: the database server cannot")
    assert "Check host and port" in message
    assert SECRET not in message


def test_a_host_that_does_not_exist_is_named() -> None:
    message = said(f"postgresql://me@nosuch.invalid/mine?password={SECRET}")
    assert "cannot be reached" in message
    assert "nosuch.invalid" in message
    assert SECRET not in message


@pytest.mark.parametrize("user", ["postgres", "nobody we know"])
def test_a_wrong_password_or_user_is_explained_and_not_repeated(
    postgres: PostgresServer, user: str
) -> None:
    message = said(postgres.url("postgres", user=user, password=SECRET))
    assert "does not let this user in" in message
    assert "Check user and password in ADVISOR_DATABASE_URL" in message
    assert SECRET not in message


def test_a_missing_password_is_explained(postgres: PostgresServer) -> None:
    assert "does not let this user in" in said(
        f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres"
    )


def test_an_unknown_database_is_named(postgres: PostgresServer) -> None:
    message = said(postgres.url("nosuch"))
    assert 'database "nosuch" does not exist' in message
    assert "createdb" in message
    assert postgres.password not in message


@pytest.fixture
def guest(postgres: PostgresServer) -> str:
    """A user who owns nothing."""
    postgres.execute(sql.SQL("DROP ROLE IF EXISTS guest"))
    postgres.execute(sql.SQL("CREATE ROLE guest LOGIN PASSWORD 'guest'"))
    return "guest"


def as_user(url: str, user: str) -> str:
    return f"postgresql://{user}:{user}@{url.partition('@')[2]}"


def test_a_user_who_may_make_no_tables_is_told(postgres_url: str, guest: str) -> None:
    message = said(as_user(postgres_url, guest))
    assert "this user may not do that" in message
    assert "GRANT ALL ON SCHEMA public" in message


def test_a_user_who_may_not_write_is_told_and_nothing_is_lost(
    postgres: PostgresServer, postgres_url: str, guest: str
) -> None:
    name = postgres_url.rpartition("/")[2]
    with Store.open(postgres_url) as store:
        store.add([run(1)])
        postgres.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest"), name)
        with Store.open(as_user(postgres_url, guest)) as theirs:
            assert theirs.count() == 1
            with pytest.raises(StoreError, match=r"permission denied.*nothing was changed.*GRANT"):
                theirs.add([run(2)])
        assert store.count() == 1
        postgres.execute(sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM guest"), name)


def test_a_read_only_database_is_explained(postgres_url: str) -> None:
    name = sql.Identifier(postgres_url.rpartition("/")[2])
    with Store.open(postgres_url) as store:
        store.add([run(1)])
        with psycopg.connect(postgres_url, autocommit=True) as owner:
            owner.execute(
                sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name)
            )
        with pytest.raises(StoreError, match=r"read-only .*nothing was written"):
            store.add([run(2)])
        assert store.count() == 1


def test_a_writer_is_waited_for_and_one_that_stays_is_explained(postgres_url: str) -> None:
    with Store.open(postgres_url, wait_s=0.3) as store, psycopg.connect(postgres_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [_WRITER_LOCK])
        assert store.count() == 0, "readers do not wait"
        start = time.monotonic()
        with pytest.raises(StoreError, match="another program is writing"):
            store.add([run(1)])
        assert 0.3 <= time.monotonic() - start < 5
        other.rollback()
        assert store.add([run(1)]).added == 1


def test_a_connection_that_breaks_loses_only_the_change_under_way(postgres_url: str) -> None:
    with Store.open(postgres_url) as store, psycopg.connect(postgres_url, autocommit=True) as admin:
        store.add([run(1)])

        def break_off() -> None:
            with store._writing() as connection:
                connection.exec_driver_sql("DELETE FROM profiles")
                own = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [own])
                connection.exec_driver_sql("DELETE FROM provenance")

        with pytest.raises(StoreError, match=r"connection .* broke .*was not kept"):
            break_off()
        assert store.count() == 1


def test_a_database_of_another_program_is_left_as_it_was(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE profiles (nickname TEXT)")
        assert "already exists" in said(postgres_url)
        tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == [("profiles",)]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (psycopg.errors.DiskFull("could not extend file"), "no space left"),
        (psycopg.errors.OutOfMemory("out of memory"), "short of what it needs (out of memory)"),
        (psycopg.errors.ConfigurationLimitExceeded("limit"), "short of what it needs"),
        (psycopg.errors.TooManyConnections("too many"), "no free connection"),
        (psycopg.errors.DataCorrupted("invalid page"), "database is damaged"),
        (psycopg.errors.IoError("could not read block"), "disk did not read or write"),
        (psycopg.errors.UndefinedTable("no such table"), "the database refused"),
        (psycopg.OperationalError("connection timeout expired"), "cannot be reached"),
    ],
)
def test_errors_that_are_hard_to_cause_are_explained(error: Exception, says: str) -> None:
    assert says in str(explain(error, "postgresql://host/db"))
