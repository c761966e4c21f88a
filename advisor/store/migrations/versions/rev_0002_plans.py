"""Saved plans with their workloads and finished runs, and the journal of edits."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "workloads",
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("content", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_workloads"),
    )
    op.create_table(
        "plans",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("deleted_at", sa.DateTime),
        sa.Column("workload_hash", sa.String(64), nullable=False),
        sa.Column("job", sa.String, nullable=False),
        sa.Column("inputs", sa.String, nullable=False),
        sa.Column("content", sa.String, nullable=False),
        sa.Column("machines", sa.String, nullable=False),
        sa.Column("cloud", sa.String, nullable=False),
        sa.Column("instance_type", sa.String, nullable=False),
        sa.Column("region", sa.String, nullable=False),
        sa.Column("market", sa.String, nullable=False),
        sa.Column("usd_per_h", sa.Double, nullable=False),
        sa.Column("price_source", sa.String, nullable=False),
        sa.Column("price_as_of", sa.Date),
        sa.Column("step_time_s", sa.String, nullable=False),
        sa.Column("hours", sa.String, nullable=False),
        sa.Column("cost_usd", sa.String, nullable=False),
        sa.Column("catalog_hash", sa.String, nullable=False),
        sa.Column("data_hash", sa.String, nullable=False),
        sa.Column("advisor_version", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
        sa.ForeignKeyConstraint(
            ["workload_hash"], ["workloads.hash"], name="fk_plans_workload_hash"
        ),
    )
    op.create_index("ix_plans_workload_hash", "plans", ["workload_hash"])
    op.create_table(
        "finished_runs",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("plan_id", sa.String(12), nullable=False),
        sa.Column("recorded_at", sa.DateTime, nullable=False),
        sa.Column("hours", sa.Double),
        sa.Column("cost_usd", sa.Double),
        sa.Column("profile_hash", sa.String(64)),
        sa.Column("note", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_finished_runs"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name="fk_finished_runs_plan_id"),
    )
    op.create_index("ix_finished_runs_plan_id", "finished_runs", ["plan_id"])
    op.create_table(
        "edits",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("made_at", sa.DateTime, nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("other", sa.String(64), nullable=False),
        sa.Column("before", sa.String, nullable=False),
        sa.Column("after", sa.String, nullable=False),
        sa.Column("undone_at", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_edits"),
    )
    op.create_index("ix_edits_subject", "edits", ["subject"])
