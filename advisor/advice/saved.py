"""Saved plans today: what changed since, and how runs of them came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor import __version__
from advisor.advice.plans import make_plan
from advisor.core.errors import AdvisorError, UnknownNameError
from advisor.search.search import Machines, SearchOptions, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.advice.engine import Engine
    from advisor.catalog import Catalog
    from advisor.domain import Estimate, Offer, Plan, Profile
    from advisor.search.search import Evaluated
    from advisor.store import FinishedRun, SavedPlan


@dataclass(frozen=True, slots=True)
class Since:
    """What changed since a plan was saved.

    Attributes
    ----------
    offer : Offer or None
        The plan's machine in its region and market at today's price; None: no longer offered.
    plan : Plan or None
        The same job on the same machines, region and market as predicted today; None where
        `unknown` says why, or where they are no longer offered.
    instead : Plan or None
        The cheapest way to get the same machines today, where `offer` is None.
    unknown : str
        Why today's hours and bill are not known, or empty.
    catalog_hash, data_hash, advisor_version : str
        Today's, to be compared with those of the plan.
    """

    offer: Offer | None
    plan: Plan | None
    instead: Plan | None
    unknown: str
    catalog_hash: str
    data_hash: str
    advisor_version: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A quantity of a finished run beside its prediction; units are those of the prediction."""

    name: str
    predicted: Estimate
    measured: float

    @property
    def ratio(self) -> float | None:
        """What was measured over what was predicted; None where nothing was predicted."""
        return self.measured / self.predicted.value if self.predicted.value else None

    @property
    def inside(self) -> bool:
        """Whether it lies inside the interval."""
        return self.predicted.low <= self.measured <= self.predicted.high


_QUANTITIES: Final = {"hours": "Time", "cost_usd": "Bill", "step_time_s": "One step"}


def outcomes(saved: SavedPlan, run: FinishedRun) -> list[Outcome]:
    """Return what was recorded of a run, beside what was predicted when its plan was saved."""
    measured = {field: getattr(run, field) for field in _QUANTITIES}
    return [
        Outcome(_QUANTITIES[field], getattr(saved, field), value)
        for field, value in measured.items()
        if value is not None
    ]


def since(
    saved: SavedPlan, engine: Engine, options: SearchOptions, runs: Sequence[Profile] = ()
) -> Since:
    """Compare a saved plan with today's price and today's prediction.

    Parameters
    ----------
    saved : SavedPlan
        The plan as the store keeps it; its job is read from there too.
    engine : Engine
        Today's catalog and predictor.
    options : SearchOptions
        Those of the search that found the plan.
    runs : sequence of Profile
        The user's runs that calibrated it.
    """
    offer = _offer(saved, engine.catalog)
    today: Plan | None = None
    instead: Plan | None = None
    try:
        engine.catalog.machine(saved.cloud, saved.instance_type)  # says so if it is there no more
        count = saved.plan.cluster.machines
        only = Machines(cloud=saved.cloud, instance_type=saved.instance_type, count=count)
        workload = saved.workload
        engine = engine.calibrated(runs, workload)
        evaluated = evaluate(workload, engine.catalog, engine.predictor, options, only)
        here = _rows_here(evaluated, saved)
        unknown = "" if len(evaluated.plans) else "the job does not fit on these machines"
        if len(here):
            today = make_plan(evaluated, int(here[0]), engine, None)
        elif len(evaluated.plans) and offer is None:
            instead = make_plan(evaluated, _cheapest(evaluated), engine, None)
    except AdvisorError as error:
        unknown = f"{error.where}: {error.what}" if error.where else error.what
    return Since(
        offer=offer,
        plan=today,
        instead=instead,
        unknown=unknown,
        catalog_hash=engine.catalog.hash,
        data_hash=engine.predictor.data_hash,
        advisor_version=__version__,
    )


def _offer(saved: SavedPlan, catalog: Catalog) -> Offer | None:
    try:
        return catalog.offer(saved.cloud, saved.instance_type, saved.region, saved.market)
    except UnknownNameError:
        return None


def _rows_here(evaluated: Evaluated, saved: SavedPlan) -> np.ndarray:
    plans = evaluated.plans
    here = (plans["region"] == saved.region) & (plans["market"] == saved.market)
    return np.flatnonzero(here.to_numpy(bool))


def _cheapest(evaluated: Evaluated) -> int:
    """Return the cheapest row whose price is trusted, where there is one."""
    plans = evaluated.plans
    trusted = plans["rankable"].to_numpy(bool)
    return int(np.lexsort((plans["cost_usd"].to_numpy(), ~trusted))[0])
