"""The migrations, the tables and the nouns say the same."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from advisor.domain import Profile, Provenance
from advisor.store import Store, schema
from advisor.store.engine import make_engine, resolve, transaction
from advisor.store.migrate import alembic_config
from advisor.testing.store import full_run


def test_the_newest_migration_is_the_revision_of_the_schema() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [schema.REVISION]


def test_migrations_lead_to_the_tables(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, store._reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, schema.metadata) == []


def test_a_store_of_the_first_version_keeps_its_runs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    engine = make_engine(resolve(url), wait_s=1)
    with transaction(engine, url, write=True) as connection:
        command.upgrade(alembic_config(connection), "0001")
        connection.exec_driver_sql(
            "INSERT INTO provenance (content_hash, source, url, licence, notes) "
            "VALUES ('p', 'lab', '', '', '')"
        )
        connection.exec_driver_sql(
            "INSERT INTO profiles (content_hash, origin, created_at, provenance_id, model, family,"
            " dataset, framework, precision, accelerator, accelerators, instance_type,"
            " interconnect, parallelism, step_time_s) VALUES ('k', 'user', '2026-01-02 00:00:00',"
            " 1, 'net', 'cnn', '', '', '', 'V100', 8, '', '', '', 0.5)"
        )
    with Store.open(url) as store:
        (row,) = store.profiles().to_dict("records")
        assert (row["content_hash"], row["state"], row["step_time_s"]) == ("k", "active", 0.5)
        assert store.delete_profile("k").after == "deleted"
        assert store.plans() == []


def test_every_field_of_the_nouns_has_a_column() -> None:
    ours = {"id", "content_hash", "origin", "created_at", "state", "provenance_id"}
    assert set(schema.profiles.c.keys()) == set(Profile.model_fields) - {"provenance"} | ours
    assert set(schema.provenance.c.keys()) == {*Provenance.model_fields, "id", "content_hash"}


def test_the_content_hash_is_the_one_that_stores_hold() -> None:
    # Another hash means that stored runs are no longer recognised: it takes a migration that
    # hashes them anew.
    assert (
        full_run().content_hash
        == "d8546c74b5a9c4a5740480f6eb5593db5193b304e00cf917bbae43b16e77ec46"
    )


def test_the_tables_are_portable() -> None:
    dialect = postgresql.dialect()
    for table in schema.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
