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

REVISION: Final = "0001"

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

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", String, nullable=False),
)

WRITER: Final = "writer"
"""The row of `meta` that a writer locks where the database has no single-writer rule."""

SEED: Final = "seed"
"""The row of `meta` that holds the hash of the seed tables in the store."""
