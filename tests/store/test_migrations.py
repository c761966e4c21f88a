"""The migrations, the tables and the nouns say the same."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from advisor.domain import Profile, Provenance
from advisor.store import Store, schema
from advisor.store.migrate import alembic_config
from advisor.testing.store import full_run


def test_the_newest_migration_is_the_revision_of_the_schema() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [schema.REVISION]


def test_migrations_lead_to_the_tables(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, store._reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, schema.metadata) == []


def test_every_field_of_the_nouns_has_a_column() -> None:
    ours = {"id", "content_hash", "origin", "created_at", "provenance_id"}
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
