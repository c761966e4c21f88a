"""The state of a measured run: active, outlier, superseded or deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; all runs are active."""
    op.add_column(
        "profiles",
        sa.Column("state", sa.String(10), nullable=False, server_default="active"),
    )
