"""From the evaluated table and the constraints to the advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from advisor.advice.asked import fields_of
from advisor.advice.caveats import caveats, whole_effort_note
from advisor.advice.choice import choice_of
from advisor.advice.explain import explanation_of
from advisor.advice.infeasible import no_plan
from advisor.advice.nearest import Measured
from advisor.advice.picks import pick_rows, reason
from advisor.advice.plans import make_plan
from advisor.advice.probes import what_to_measure
from advisor.advice.proposals import runners_up
from advisor.domain import Advice, Workload
from advisor.domain.advice import Pick
from advisor.search.constraints import Constraints, apply
from advisor.search.interruptions import surest_known
from advisor.search.pareto import pareto_front
from advisor.search.search import Evaluated, SearchOptions, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.advice.engine import Engine
    from advisor.domain import Explanation, Plan, Profile


@dataclass(frozen=True, slots=True)
class Result:
    """Table rows of an answer: those that meet the limits, the front, the picks.

    ``front`` is ordered by hours; as the picks, it is of plans whose finish is known, where there
    are any. ``removed`` counts candidates by constraint.
    """

    rows: np.ndarray
    front: np.ndarray
    picks: dict[str, int]
    removed: dict[str, int]


def select(evaluated: Evaluated, limits: Constraints) -> Result:
    """Filter the evaluated table; fast enough to run at every change of a constraint."""
    mask, removed = apply(evaluated.plans, limits)
    rows = np.flatnonzero(mask)
    removed = {**evaluated.removed, **removed}
    if not len(rows):
        return Result(rows=rows, front=rows, picks={}, removed=removed)
    known = surest_known(evaluated.plans, rows)
    hours = evaluated.plans["hours"].to_numpy()[known]
    cost = evaluated.plans["cost_usd"].to_numpy()[known]
    return Result(
        rows=rows,
        front=known[pareto_front(hours, cost)],
        picks=pick_rows(evaluated.plans, rows, limits),
        removed=removed,
    )


def advise(
    workload: Workload,
    engine: Engine,
    *,
    options: SearchOptions | None = None,
    limits: Constraints | None = None,
    current: Plan | None = None,
    runs: Sequence[Profile] = (),
    explain: Sequence[str] = (),
) -> Advice:
    """Recommend machines, counts and layouts for a workload.

    Parameters
    ----------
    workload : Workload
        The job.
    engine : Engine
        Catalog and predictor.
    options, limits : optional
        Of the search, and on its plans; none by default.
    current : Plan, optional
        What the user runs on today; the picks state the saving against it.
    runs : sequence of Profile
        The user's own measured runs, which calibrate the predictions; the present machines are
        to be predicted by `Engine.calibrated` with the same runs.
    explain : sequence of str
        Names of the picks to explain.

    Raises
    ------
    NoFeasiblePlanError
        If no plan meets the limits; the message says which to relax and by how much.
    """
    limits = limits or Constraints()
    engine = engine.calibrated(runs, workload) if runs else engine
    evaluated = evaluate(workload, engine.catalog, engine.predictor, options or SearchOptions())
    result = select(evaluated, limits)
    if not result.picks:
        raise no_plan(evaluated, limits, result.removed)
    advice = advice_of(evaluated, result, engine, limits, current)
    return advice.model_copy(
        update={
            "probes": what_to_measure(evaluated, result.rows, limits, engine),
            "explanations": _explanations(evaluated, result, engine, explain),
            "choices": {
                name: choice_of(evaluated, result.rows, result.picks[name], limits, engine, name)
                for name in explain
                if name in result.picks
            },
            "runners_up": runners_up(evaluated, result, engine, limits),
        }
    )


def _explanations(
    evaluated: Evaluated, result: Result, engine: Engine, names: Sequence[str]
) -> dict[str, Explanation]:
    if not names:
        return {}
    measured, entries = Measured.load(engine), evaluated.plans["entry"]
    return {
        name: explanation_of(
            evaluated.best, int(entries.iloc[result.picks[name]]), evaluated.workload, engine,
            measured,
        )
        for name in names
        if name in result.picks
    }  # fmt: skip


def advice_of(
    evaluated: Evaluated,
    result: Result,
    engine: Engine,
    limits: Constraints,
    current: Plan | None = None,
) -> Advice:
    """Return the picks and the front of a result as an `Advice`."""
    picks = {}
    for name, row in result.picks.items():
        plan = make_plan(evaluated, row, engine, limits.deadline_h)
        picks[name] = Pick(
            plan=plan,
            reason=reason(name, evaluated.plans, result.picks, result.rows, limits),
            saving_usd=None if current is None else current.cost_usd.value - plan.cost_usd.value,
            saving_hours=None if current is None else current.hours.value - plan.hours.value,
        )
    model = engine.predictor.model
    return Advice(
        workload=evaluated.workload,
        picks=picks,
        pareto=tuple(
            make_plan(evaluated, int(row), engine, limits.deadline_h) for row in result.front
        ),
        current=current,
        candidates_considered=evaluated.considered,
        removed_by=result.removed,
        catalog={
            "hash": engine.catalog.hash,
            "as_of": str(engine.catalog.as_of or ""),
            "offers": len(engine.catalog.offers),
        },
        predictor={
            "version": engine.predictor.version,
            "data_hash": engine.predictor.data_hash,
            "runs": model.runs,
            "interval_level": model.conformal.level,
        },
        own_runs=engine.own_runs,
        caveats=(*caveats(evaluated.workload), *_losses(evaluated, picks.values())),
        limits=fields_of(limits),
        options=fields_of(evaluated.options),
    )


def _losses(evaluated: Evaluated, picks: Iterable[Pick]) -> tuple[str, ...]:
    """Say what efforts as large as the largest pick lose, unless the user allows for it."""
    if evaluated.options.retry_share:
        return ()
    plans = [pick.plan for pick in picks]
    return whole_effort_note(max(p.hours.value * p.cluster.accelerators for p in plans))
