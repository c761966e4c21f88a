"""The tables, as the newest migration leaves them.

A new field of `Profile` needs a column here, a migration beside the others, and a new
`REVISION`; tests compare all three. Because the field set is part of every content hash, such
a migration also has to hash the stored rows anew.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TypeDecorator,
)

if TYPE_CHECKING:
    from sqlalchemy import Dialect

REVISION: Final = "0004"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


class UtcDateTime(TypeDecorator[dt.datetime]):
    """A moment, stored as naive UTC because SQLite keeps no time zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: dt.datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the signature is SQLAlchemy's
    ) -> dt.datetime | None:
        """Drop the time zone after moving to UTC."""
        return None if value is None else value.astimezone(dt.UTC).replace(tzinfo=None)

    def process_result_value(
        self,
        value: dt.datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the signature is SQLAlchemy's
    ) -> dt.datetime | None:
        """Say that it is UTC."""
        return None if value is None else value.replace(tzinfo=dt.UTC)


provenance = Table(
    "provenance",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("content_hash", String(64), nullable=False, unique=True),
    Column("source", String, nullable=False),
    Column("url", String, nullable=False),
    Column("licence", String, nullable=False),
    Column("collected", Date),
    Column("notes", String, nullable=False),
)

profiles = Table(
    "profiles",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("content_hash", String(64), nullable=False, unique=True),
    Column("origin", String(8), nullable=False),
    Column("state", String(10), nullable=False, server_default="active"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("provenance_id", ForeignKey("provenance.id"), nullable=False, index=True),
    Column("model", String, nullable=False, index=True),
    Column("family", String, nullable=False),
    Column("params", Double),
    Column("layers", BigInteger),
    Column("hidden", BigInteger),
    Column("sample_size", BigInteger),
    Column("forward_flops_per_sample", Double),
    Column("dataset", String, nullable=False),
    Column("framework", String, nullable=False),
    Column("year", BigInteger),
    Column("precision", String, nullable=False),
    Column("accelerator", String, nullable=False, index=True),
    Column("accelerators", Double, nullable=False),
    Column("nodes", BigInteger),
    Column("instance_type", String, nullable=False),
    Column("interconnect", String, nullable=False),
    Column("parallelism", String, nullable=False),
    Column("global_batch", Double),
    Column("micro_batch", Double),
    Column("step_time_s", Double, nullable=False),
    Column("peak_memory_bytes", Double),
    Column("gpu_busy_share", Double),
    Column("comm_share", Double),
    CheckConstraint("origin IN ('seed', 'user')", name="origin"),
)

catalog_snapshots = Table(
    "catalog_snapshots",
    metadata,
    Column("hash", String(128), primary_key=True),
    Column("as_of", Date, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("stored_at", UtcDateTime, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

workloads = Table(
    "workloads",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("content", String, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("name", String, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("deleted_at", UtcDateTime),
    Column("workload_hash", ForeignKey("workloads.hash"), nullable=False, index=True),
    Column("job", String, nullable=False),
    Column("inputs", String, nullable=False),
    Column("content", String, nullable=False),
    # What lists show, apart from the plan: they work whatever version wrote the plan.
    Column("machines", String, nullable=False),
    Column("cloud", String, nullable=False),
    Column("instance_type", String, nullable=False),
    Column("region", String, nullable=False),
    Column("market", String, nullable=False),
    Column("usd_per_h", Double, nullable=False),
    Column("price_source", String, nullable=False),
    Column("price_as_of", Date),
    Column("step_time_s", String, nullable=False),
    Column("hours", String, nullable=False),
    Column("cost_usd", String, nullable=False),
    Column("catalog_hash", String, nullable=False),
    Column("data_hash", String, nullable=False),
    Column("advisor_version", String, nullable=False),
)

finished_runs = Table(
    "finished_runs",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("plan_id", ForeignKey("plans.id"), nullable=False, index=True),
    Column("recorded_at", UtcDateTime, nullable=False),
    Column("hours", Double),
    Column("cost_usd", Double),
    # As it was given; corrections since then stand in the journal.
    Column("profile_hash", String(64)),
    Column("note", String, nullable=False),
    Column("deleted_at", UtcDateTime),
)

edits = Table(
    "edits",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("made_at", UtcDateTime, nullable=False),
    Column("action", String(16), nullable=False),
    Column("subject", String(64), nullable=False, index=True),
    Column("other", String(64), nullable=False),
    Column("before", String, nullable=False),
    Column("after", String, nullable=False),
    Column("undone_at", UtcDateTime),
)

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", String, nullable=False),
)

SEED: Final = "seed"
"""The row of `meta` that holds the hash of the seed tables in the store."""
