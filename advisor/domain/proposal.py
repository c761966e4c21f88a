"""A chosen plan with its question: enough to run it, report it, or compare it later."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.plan import Plan
from advisor.domain.workload import Workload

RUNNER_UP: Final = "runner-up"


class Alternative(Noun):
    """Another plan of the same job: for what it would be chosen."""

    name: str = Field(min_length=1, description="A pick, or “runner-up”.")
    plan: Plan


class Proposal(Noun):
    """A plan, the job, the limits it was chosen within, and what stood beside it."""

    only_if_any: ClassVar[tuple[str, ...]] = (
        "pick", "reason", "limits", "options", "alternatives", "catalog", "predictor", "caveats",
        "job",
    )  # fmt: skip

    plan_id: str = Field(default="", description="Of the plan, for people and other tools.")
    plan: Plan
    workload: Workload
    pick: str = Field(default="", description="For what it was picked, or empty.")
    reason: str = ""
    job: str = Field(default="", description="As it was asked for, in one line.")
    limits: dict[str, Any] = Field(default={}, description="Empty where none were recorded.")
    options: dict[str, Any] = Field(default={}, description="Of the search.")
    alternatives: tuple[Alternative, ...] = Field(
        default=(), description="The other picks, and the runner-up where there is one."
    )
    catalog: dict[str, str | int] = Field(default={})
    predictor: dict[str, str | int | float] = Field(default={})
    caveats: tuple[str, ...] = ()
    made_on: dt.date | None = Field(default=None, description="None: not recorded.")

    @property
    def runner_up(self) -> Plan | None:
        """The next choice on other machines; None where there is none, or none was recorded."""
        found = (one.plan for one in self.alternatives if one.name == RUNNER_UP)
        return next(found, None)
