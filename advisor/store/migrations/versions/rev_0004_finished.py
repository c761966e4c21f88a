"""Finished runs can be taken back without being lost, and keep the profile they were given."""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

edits = sa.table(
    "edits",
    *map(sa.column, ("id", "action", "subject", "other", "after")),
    sa.column("undone_at", sa.DateTime),
)
finished_runs = sa.table("finished_runs", sa.column("profile_hash"))
profiles = sa.table("profiles", sa.column("content_hash"))


def upgrade() -> None:
    """Add the column, move runs back along corrections, close edits of runs that are no more."""
    op.add_column("finished_runs", sa.Column("deleted_at", sa.DateTime))
    connection = op.get_bind()
    # A correction moved finished runs to its new profile; from now on they are found through the
    # journal. Where the new profile came by itself too, it is not known which of its runs were
    # moved: they stay.
    moved = (
        sa.select(edits.c.subject, edits.c.other)
        .where(edits.c.action == "correct", edits.c.after == "absent", edits.c.undone_at.is_(None))
        .order_by(edits.c.id.desc())
    )
    key = finished_runs.c.profile_hash
    for subject, other in connection.execute(moved).all():
        connection.execute(
            sa.update(finished_runs).where(key == other).values(profile_hash=subject)
        )
    # Nobody could undo these, nor any edit before them.
    here = sa.select(profiles.c.content_hash)
    gone = edits.c.subject.not_in(here) | ((edits.c.other != "") & edits.c.other.not_in(here))
    of_runs = ("correct", "mark_outlier", "unmark_outlier", "delete_profile")
    connection.execute(
        sa.update(edits)
        .where(edits.c.action.in_(of_runs), edits.c.undone_at.is_(None), gone)
        .values(undone_at=dt.datetime.now(dt.UTC).replace(tzinfo=None))
    )
