"""From advice, a row of the search's table or a file to a proposal."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from advisor.advice.asked import fields_of
from advisor.advice.picks import PICKS, pick_rows, reason
from advisor.advice.plans import make_plan
from advisor.core.errors import UnknownNameError
from advisor.domain import Advice, Alternative, Plan, Proposal
from advisor.domain.proposal import RUNNER_UP

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from advisor.advice.advise import Result
    from advisor.advice.engine import Engine
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

DEFAULT_PICK: Final = PICKS[0]


def propose(advice: Advice, pick: str = DEFAULT_PICK, made_on: dt.date | None = None) -> Proposal:
    """Return a pick of advice with what stood beside it.

    Raises
    ------
    UnknownNameError
        If the advice has no such pick.
    """
    if pick not in advice.picks:
        raise UnknownNameError("pick", pick, advice.picks, where="--pick")
    chosen = advice.picks[pick]
    others = {name: one.plan for name, one in advice.picks.items()}
    return Proposal(
        plan_id=chosen.plan.id,
        plan=chosen.plan,
        workload=advice.workload,
        pick=pick,
        reason=chosen.reason,
        limits=advice.limits,
        options=advice.options,
        alternatives=_alternatives(chosen.plan, others, advice.runners_up.get(pick)),
        catalog=advice.catalog,
        predictor=advice.predictor,
        caveats=advice.caveats,
        made_on=made_on,
    )


def propose_row(
    advice: Advice,
    evaluated: Evaluated,
    result: Result,
    row: int,
    engine: Engine,
    limits: Constraints,
    *,
    job: str = "",
    made_on: dt.date | None = None,
) -> Proposal:
    """Return a row of the table as a proposal, picked or not; `advice` holds the picks.

    A plan outside the limits is proposed too; it has no runner-up for them.
    """
    pick = next((name for name, picked in result.picks.items() if picked == row), "")
    plan = make_plan(evaluated, row, engine, limits.deadline_h)
    others = {name: one.plan for name, one in advice.picks.items()}
    second = runner_up_row(evaluated.plans, result.rows, row, pick, limits)
    runner_up = None if second is None else make_plan(evaluated, second, engine, limits.deadline_h)
    why = ""
    if pick:
        why = reason(pick, evaluated.plans, result.picks, result.rows, limits)
    return Proposal(
        plan_id=plan.id,
        plan=plan,
        workload=evaluated.workload,
        pick=pick,
        reason=why,
        job=job,
        limits=fields_of(limits),
        options=fields_of(evaluated.options),
        alternatives=_alternatives(plan, others, runner_up),
        catalog=advice.catalog,
        predictor=advice.predictor,
        caveats=advice.caveats,
        made_on=made_on,
    )


def runner_up_row(
    plans: pd.DataFrame, rows: np.ndarray, row: int, pick: str, limits: Constraints
) -> int | None:
    """Return what the pick would be were there no machines of its type, or None.

    The runner-up of a plan that is no pick is the cheapest on other machines.
    """
    machine = plans["instance_type"].to_numpy()
    others = rows[machine[rows] != machine[row]]
    if not len(others):
        return None
    return pick_rows(plans, others, limits)[pick or DEFAULT_PICK]


def runners_up(
    evaluated: Evaluated, result: Result, engine: Engine, limits: Constraints
) -> dict[str, Plan]:
    """Return the next choice for every pick that has one."""
    rows = {
        name: runner_up_row(evaluated.plans, result.rows, row, name, limits)
        for name, row in result.picks.items()
    }
    return {
        name: make_plan(evaluated, row, engine, limits.deadline_h)
        for name, row in rows.items()
        if row is not None
    }


def today() -> dt.date:
    """Return the date that a proposal made now bears."""
    return dt.datetime.now(dt.UTC).date()


def _alternatives(
    plan: Plan, picks: dict[str, Plan], runner_up: Plan | None
) -> tuple[Alternative, ...]:
    found = [Alternative(name=n, plan=other) for n, other in picks.items() if other.id != plan.id]
    if runner_up is not None:
        found.insert(0, Alternative(name=RUNNER_UP, plan=runner_up))
    return tuple(found)
