"""The migrations, the tables and the nouns say the same."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from advisor.domain import Estimate, Profile, Provenance
from advisor.store import Store, schema
from advisor.store.address import resolve
from advisor.store.engine import make_engine, transaction
from advisor.store.migrate import alembic_config
from advisor.testing.store_runs import full_run


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


def test_finished_runs_of_an_older_store_go_back_to_the_runs_they_were_given(any_url: str) -> None:
    engine = make_engine(resolve(any_url), wait_s=1)
    moment = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    with transaction(engine, any_url, write=True) as connection:
        command.upgrade(alembic_config(connection), "0003")

        def put(table: str, **fields: object) -> None:
            columns = schema.metadata.tables[table].c
            given = sa.table(table, *(sa.column(name, columns[name].type) for name in fields))
            connection.execute(sa.insert(given).values(**fields))

        put("provenance", id=1, content_hash="p", source="lab", url="", licence="", notes="")
        for step_s, key in enumerate("abc", start=1):
            fields = dict(full_run()) | {"step_time_s": float(step_s)}
            del fields["provenance"]
            put("profiles", **fields, content_hash=key, origin="user", created_at=moment,
                state="active" if key == "c" else "superseded", provenance_id=1)  # fmt: skip
        put("workloads", hash="w", created_at=moment, content="{}")
        one = Estimate(value=1, low=1, high=1, unit="h", basis="measured").to_json()
        put("plans", id="plan", name="mine", created_at=moment, workload_hash="w", market="spot",
            usd_per_h=1.0, inputs="{}", step_time_s=one, hours=one, cost_usd=one,
            **dict.fromkeys(("job", "content", "machines", "cloud", "instance_type", "region",
                             "price_source", "catalog_hash", "data_hash", "advisor_version"), "")
            )  # fmt: skip
        put("finished_runs", id="run", plan_id="plan", recorded_at=moment, hours=9.5,
            profile_hash="c", note="kept")  # fmt: skip
        for old, new in ("ab", "bc"):
            put("edits", made_at=moment, action="correct", subject=old, other=new,
                before="active", after="absent")  # fmt: skip
        put("edits", made_at=moment, action="mark_outlier", subject="gone", other="",
            before="active", after="outlier")  # fmt: skip
    engine.dispose()
    with Store.open(any_url) as store:
        (run,) = store.plan("plan").finished
        assert (run.hours, run.note, run.profile_hash, run.step_time_s) == (9.5, "kept", "c", 3.0)
        store.undo()  # the edit of a run that is no more is closed, and stands in nobody's way
        assert store.plan("plan").finished[0].step_time_s == 2.0
        store.undo()
        assert store.plan("plan").finished[0].step_time_s == 1.0
        assert store.profiles(state=None)["content_hash"].tolist() == ["a"]
