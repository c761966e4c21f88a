"""The first schema: measured runs, where they came from, catalog snapshots."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "provenance",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("licence", sa.String, nullable=False),
        sa.Column("collected", sa.Date),
        sa.Column("notes", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_provenance"),
        sa.UniqueConstraint("content_hash", name="uq_provenance_content_hash"),
    )
    op.create_table(
        "profiles",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(8), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("provenance_id", sa.Integer, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("family", sa.String, nullable=False),
        sa.Column("params", sa.Double),
        sa.Column("layers", sa.BigInteger),
        sa.Column("hidden", sa.BigInteger),
        sa.Column("sample_size", sa.BigInteger),
        sa.Column("forward_flops_per_sample", sa.Double),
        sa.Column("dataset", sa.String, nullable=False),
        sa.Column("framework", sa.String, nullable=False),
        sa.Column("year", sa.BigInteger),
        sa.Column("precision", sa.String, nullable=False),
        sa.Column("accelerator", sa.String, nullable=False),
        sa.Column("accelerators", sa.Double, nullable=False),
        sa.Column("nodes", sa.BigInteger),
        sa.Column("instance_type", sa.String, nullable=False),
        sa.Column("interconnect", sa.String, nullable=False),
        sa.Column("parallelism", sa.String, nullable=False),
        sa.Column("global_batch", sa.Double),
        sa.Column("micro_batch", sa.Double),
        sa.Column("step_time_s", sa.Double, nullable=False),
        sa.Column("peak_memory_bytes", sa.Double),
        sa.Column("gpu_busy_share", sa.Double),
        sa.Column("comm_share", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_profiles"),
        sa.UniqueConstraint("content_hash", name="uq_profiles_content_hash"),
        sa.ForeignKeyConstraint(
            ["provenance_id"], ["provenance.id"], name="fk_profiles_provenance_id"
        ),
        sa.CheckConstraint("origin IN ('seed', 'user')", name="ck_profiles_origin"),
    )
    for column in ("provenance_id", "model", "accelerator"):
        op.create_index(f"ix_profiles_{column}", "profiles", [column])
    op.create_table(
        "catalog_snapshots",
        sa.Column("hash", sa.String(128), nullable=False),
        sa.Column("as_of", sa.Date, nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("stored_at", sa.DateTime, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_catalog_snapshots"),
    )
    table = op.create_table(
        "meta",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("value", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
    )
    op.bulk_insert(table, [{"key": "writer", "value": ""}])
