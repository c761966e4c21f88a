"""Statements on saved plans and their finished runs; each runs inside the caller's transaction."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import insert, select, update

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Estimate
from advisor.store.journal import corrections
from advisor.store.profiles import batches
from advisor.store.records import FinishedRun, SavedPlan
from advisor.store.schema import finished_runs, plans, profiles, workloads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, Row

    from advisor.domain import Plan, Workload

_LONGEST_NAME: Final = 200
_LONGEST_INPUTS: Final = 100_000
_ESTIMATES: Final = ("step_time_s", "hours", "cost_usd")


def new_id() -> str:
    """Return an id that no plan or finished run has."""
    return secrets.token_hex(6)


def clean_name(name: str) -> str:
    """Return a name fit for lists, without line breaks and double spaces.

    Raises
    ------
    InvalidInputError
        If nothing is left, it is too long, or holds characters that cannot be shown.
    """
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            "this cannot be the name of a plan.",
            where="name",
            todo=f"Give 1 to {_LONGEST_NAME} letters, digits and signs.",
        )
    return name


def inputs_json(inputs: Mapping[str, str | Sequence[str]]) -> str:
    """Return the page's inputs as JSON.

    Raises
    ------
    InvalidInputError
        If they are far larger than any page's.
    """
    plain = {str(k): v if isinstance(v, str) else [str(x) for x in v] for k, v in inputs.items()}
    text = json.dumps(plain)
    if len(text) > _LONGEST_INPUTS:
        raise InvalidInputError("the inputs of the plan are too long to be kept.", where="inputs")
    return text


def insert_workload(connection: Connection, workload: Workload) -> str:
    """Keep a workload unless the store has it, and return its hash."""
    content = workload.to_json()
    key = hashlib.sha256(content.encode()).hexdigest()
    if connection.scalar(select(workloads.c.hash).where(workloads.c.hash == key)) is None:
        now = dt.datetime.now(dt.UTC)
        connection.execute(insert(workloads).values(hash=key, created_at=now, content=content))
    return key


def insert_plan(
    connection: Connection, plan: Plan, workload: Workload, *, name: str, job: str, inputs: str
) -> str:
    """Keep a plan and return its id."""
    key = new_id()
    offer = plan.offer
    connection.execute(
        insert(plans).values(
            id=key,
            name=name,
            created_at=dt.datetime.now(dt.UTC),
            workload_hash=insert_workload(connection, workload),
            job=job,
            inputs=inputs,
            content=plan.to_json(),
            machines=str(plan.cluster),
            cloud=offer.cloud,
            instance_type=offer.instance_type,
            region=offer.region,
            market=offer.market,
            usd_per_h=offer.usd_per_h,
            price_source=offer.source,
            price_as_of=offer.as_of,
            catalog_hash=plan.catalog_hash,
            data_hash=plan.data_hash,
            advisor_version=plan.advisor_version,
            **{field: getattr(plan, field).to_json() for field in _ESTIMATES},
        )
    )
    return key


def select_plans(
    connection: Connection, *, deleted: bool, plan_id: str | None = None
) -> list[SavedPlan]:
    """Return the plans that are not deleted (or those that are), newest first."""
    query = (
        select(plans, workloads.c.content.label("workload_json"))
        .join_from(plans, workloads)
        .where(plans.c.deleted_at.is_not(None) if deleted else plans.c.deleted_at.is_(None))
        .order_by(plans.c.created_at.desc(), plans.c.id)
    )
    if plan_id is not None:
        query = query.where(plans.c.id == plan_id)
    by_plan: dict[str, list[FinishedRun]] = {}
    for run in select_finished(connection, plan_id):
        by_plan.setdefault(run.plan_id, []).append(run)
    return [_saved(row, by_plan.get(row.id, ())) for row in connection.execute(query)]


def select_plan(connection: Connection, plan_id: str, *, deleted: bool = False) -> SavedPlan:
    """Return a plan.

    Raises
    ------
    UnknownNameError
        If there is none with this id.
    """
    found = select_plans(connection, deleted=deleted, plan_id=plan_id)
    if not found:
        known = connection.scalars(select(plans.c.id).where(plans.c.deleted_at.is_(None))).all()
        raise UnknownNameError("plan", plan_id, known, where="saved plans")
    return found[0]


def set_name(connection: Connection, plan_id: str, name: str) -> None:
    """Name a plan anew."""
    connection.execute(update(plans).where(plans.c.id == plan_id).values(name=name))


def set_deleted(connection: Connection, plan_id: str, *, deleted: bool) -> None:
    """Hide a plan, or show it again."""
    moment = dt.datetime.now(dt.UTC) if deleted else None
    connection.execute(update(plans).where(plans.c.id == plan_id).values(deleted_at=moment))


def insert_finished(connection: Connection, run: FinishedRun) -> None:
    """Keep a finished run."""
    fields = dict(run)
    del fields["step_time_s"]  # it stands in the profile
    fields["profile_hash"] = run.profile_hash or None
    connection.execute(insert(finished_runs).values(**fields))


def select_finished(
    connection: Connection, plan_id: str | None, *, deleted: bool = False
) -> list[FinishedRun]:
    """Return the finished runs of a plan, or of all if None, oldest first.

    A run whose profile was corrected has the corrected one, found through the journal: it is
    the run's only while the correction is not undone.
    """
    gone = finished_runs.c.deleted_at
    query = (
        select(finished_runs)
        .where(gone.is_not(None) if deleted else gone.is_(None))
        .order_by(finished_runs.c.recorded_at, finished_runs.c.id)
    )
    if plan_id is not None:
        query = query.where(finished_runs.c.plan_id == plan_id)
    rows = connection.execute(query).all()
    now = _as_corrected(connection, {row.profile_hash for row in rows if row.profile_hash})
    steps = _step_times(connection, list(now.values()))
    return [_finished(row, now.get(row.profile_hash, ""), steps) for row in rows]


def hide_finished(connection: Connection, run_id: str) -> None:
    """Take a finished run back; it stays in its table, and its profile in use."""
    now = dt.datetime.now(dt.UTC)
    connection.execute(
        update(finished_runs).where(finished_runs.c.id == run_id).values(deleted_at=now)
    )


def _as_corrected(connection: Connection, given: set[str]) -> dict[str, str]:
    """Return by content hash the run that stands for it after all corrections."""
    now = {key: key for key in given}
    for old, new in corrections(connection) if given else ():
        now |= {key: new for key, at in now.items() if at == old}
    return now


def _step_times(connection: Connection, hashes: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for some in batches(hashes):
        query = select(profiles.c.content_hash, profiles.c.step_time_s).where(
            profiles.c.content_hash.in_(some)
        )
        found |= {row.content_hash: row.step_time_s for row in connection.execute(query)}
    return found


def _finished(row: Row[Any], profile_hash: str, steps: Mapping[str, float]) -> FinishedRun:
    fields = dict(row._mapping)  # noqa: SLF001 - public in spite of its name
    profile = {"profile_hash": profile_hash, "step_time_s": steps.get(profile_hash)}
    return FinishedRun.make(**fields | profile)


def _saved(row: Row[Any], finished: Iterable[FinishedRun]) -> SavedPlan:
    fields = dict(row._mapping)  # noqa: SLF001 - public in spite of its name
    del fields["workload_hash"]
    plan_json = fields.pop("content")
    read = {field: Estimate.from_json(fields[field]) for field in _ESTIMATES}
    return SavedPlan.make(
        **fields | read | {"inputs": json.loads(row.inputs)},
        plan_json=plan_json,
        finished=tuple(finished),
    )
