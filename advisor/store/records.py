"""What the store returns of its own: saved plans, finished runs, edits."""

from __future__ import annotations

import datetime as dt
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from advisor.domain import Estimate, Market, Plan, Workload
from advisor.domain.base import Noun

Action = Literal[
    "correct",
    "mark_outlier",
    "unmark_outlier",
    "delete_profile",
    "rename_plan",
    "delete_plan",
    "finish_plan",
]
State = Literal["active", "outlier", "superseded", "deleted"]
ABSENT: Final = "absent"
"""What a corrected run was before the correction, if the store did not have it."""

_KEPT: Final = frozenset({"active", "outlier"})
_KNOWN: Final = frozenset({"active", "outlier", "superseded", "deleted", ABSENT})
_NOTHING: Final = frozenset({""})
_BEFORE: Final[dict[Action, frozenset[str]]] = {
    "correct": _KEPT, "mark_outlier": frozenset({"active"}),
    "unmark_outlier": frozenset({"outlier"}), "delete_profile": _KEPT,
}  # fmt: skip
_AFTER: Final[dict[Action, frozenset[str]]] = {
    "correct": _KNOWN, "mark_outlier": frozenset({"outlier"}),
    "unmark_outlier": frozenset({"active"}), "delete_profile": frozenset({"deleted"}),
    "delete_plan": _NOTHING, "finish_plan": _NOTHING,
}  # fmt: skip


class FinishedRun(Noun):
    """What a run of a saved plan took in fact; None: not recorded."""

    id: str
    plan_id: str
    recorded_at: dt.datetime
    hours: float | None = Field(default=None, gt=0)
    cost_usd: float | None = Field(default=None, ge=0)
    profile_hash: str = Field(
        default="", description="Content hash of its profile, as corrected since, or empty."
    )
    step_time_s: float | None = Field(default=None, gt=0, description="Of its profile.")
    note: str = Field(default="", max_length=2000)
    deleted_at: dt.datetime | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.hours is None and self.cost_usd is None and not self.profile_hash:
            raise ValueError("a finished run needs hours, a cost or a profile")
        return self


class SavedPlan(Noun):
    """A plan as it was advised, with the job, the price and the prediction of that day.

    ``inputs`` are the page's inputs by name, as its address holds them: with them the page
    makes the advice anew. ``plan`` and ``workload`` read what was saved.
    """

    id: str
    name: str = Field(min_length=1, max_length=200)
    created_at: dt.datetime
    deleted_at: dt.datetime | None = None
    job: str
    inputs: dict[str, str | list[str]]
    machines: str
    cloud: str
    instance_type: str
    region: str
    market: Market
    usd_per_h: float = Field(gt=0)
    price_source: str
    price_as_of: dt.date | None = None
    step_time_s: Estimate
    hours: Estimate
    cost_usd: Estimate
    catalog_hash: str
    data_hash: str
    advisor_version: str
    workload_json: str
    plan_json: str
    finished: tuple[FinishedRun, ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan.

        Raises
        ------
        InvalidInputError
            If another version of the advisor saved it in a way that this one cannot read.
        """
        return Plan.from_json(self.plan_json)

    @property
    def workload(self) -> Workload:
        """What the plan trains; errors as of `plan`."""
        return Workload.from_json(self.workload_json)


class Edit(Noun):
    """A change that can be undone: what was done, to what, when.

    ``subject`` is what was changed: the id of a plan or finished run, or the content hash of a
    measured run (``other`` is then the run that superseded it). ``before`` and ``after`` are
    names of a plan or states of runs; ``before`` is the plan of a finished run. ``after`` of a
    correction is the state that the run ``other`` had before.
    """

    id: int
    made_at: dt.datetime
    action: Action
    subject: str
    other: str = ""
    before: str = ""
    after: str = ""
    undone_at: dt.datetime | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        known = self.before in _BEFORE.get(self.action, {self.before})
        if not known or self.after not in _AFTER.get(self.action, {self.after}):
            raise ValueError(f"no edit “{self.action}” has such states")
        if bool(self.other) != (self.action == "correct"):
            raise ValueError("only a correction names another run, and each does")
        return self
