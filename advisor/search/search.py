"""From a workload to the table of priced plans."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtr

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import kind_of_family
from advisor.search.bill import (
    BillColumns,
    BillTerms,
    BillUse,
    bill_columns,
    checkpoint_bytes,
    total_at,
)
from advisor.search.data_set import DataSet
from advisor.search.exact import BestLayouts, best_layouts
from advisor.search.hardware import hardware_table
from advisor.search.interruptions import interruption_columns, known_rows, law_of
from advisor.search.offers import offer_columns
from advisor.search.plan_bill import OFFER_TERMS, terms_of, use_of
from advisor.search.startup import cluster_startup
from advisor.search.wide import wide_pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.predictor import Prediction, Predictor


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What the search itself depends on; everything else is a constraint on its table.

    Attributes
    ----------
    most_accelerators : int
        Largest cluster.
    memory_margin : float
        Share of the device memory to leave free.
    retry_share : float
        Allowance for restarts and retries, as a share of the training hours.
    data : DataSet, optional
        Data that is stored while the job runs, and moved to the machines; None leaves it out of
        the bill.
    """

    most_accelerators: int = 512
    memory_margin: float = 0.1
    retry_share: float = 0.0
    data: DataSet | None = None

    def __post_init__(self) -> None:
        limits = {
            "most_accelerators": (1, 20_000),
            "memory_margin": (0.0, 0.9),
            "retry_share": (0.0, 10.0),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InvalidInputError(
                    f"{value!r} is not between {low:,} and {high:,}.",
                    where=name.replace("_", " "),
                )


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Every feasible machine shape, count and offer with its best layout, priced.

    ``plans`` has one row per offer and count; its column ``entry`` is the row of ``best``,
    ``offer`` the row of the catalog's offers. ``bill`` has the parts of their bills, ``terms`` and
    ``use`` what they are made of. ``considered`` and ``removed`` count candidates,
    that is layouts per offer and count: what was not removed are the rows of ``plans``.
    ``complete`` is False where the search was stopped: the best of what was looked at until then.
    """

    workload: Workload
    options: SearchOptions
    plans: pd.DataFrame
    best: BestLayouts
    bill: BillColumns
    terms: BillTerms
    use: BillUse
    considered: int
    removed: dict[str, int]
    seconds: float
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """A fixed choice: so many of one instance type."""

    cloud: str
    instance_type: str
    count: int


def evaluate(
    workload: Workload,
    catalog: Catalog,
    predictor: Predictor,
    options: SearchOptions,
    only: Machines | None = None,
    stop: Callable[[], bool] | None = None,
) -> Evaluated:
    """Search all offers × counts × layouts.

    Physically identical machines are evaluated once; for each machine shape and count the layout
    that is expected to finish first is kept, since on the same machines it is also the cheapest.

    Parameters
    ----------
    only : Machines, optional
        The only machines to look at.
    stop : callable, optional
        Asked between blocks of machines; the search ends with the first block after which it says
        yes. `within` gives one that looks at the clock.

    Raises
    ------
    InvalidInputError
        If there are more candidates than can be evaluated in reasonable time.
    """
    begin = time.perf_counter()
    hardware, shape_of_offer = hardware_table(catalog, workload.precision)
    if only is not None:
        hardware, shape_of_offer = _only(catalog, hardware, shape_of_offer, only)
    kind = kind_of_family(workload.model.family)
    shortlist = wide_pass(
        workload,
        hardware,
        predictor.model.point.costs[kind],
        most_devices=options.most_accelerators,
        memory_margin=options.memory_margin,
        count=None if only is None else only.count,
        stop=stop,
    )
    best = best_layouts(shortlist, predictor)
    plans, terms, use, endless = _price(workload, catalog, options, best, shape_of_offer)
    offers_per_shape = np.bincount(shape_of_offer[shape_of_offer >= 0], minlength=len(hardware))
    considered = int(shortlist.considered @ offers_per_shape)
    removed = {"memory": int(shortlist.too_large @ offers_per_shape)}
    if endless:
        removed["interruptions"] = endless
    removed["slower_layout"] = considered - sum(removed.values()) - len(plans)
    return Evaluated(
        workload=workload,
        options=options,
        plans=plans,
        best=best,
        bill=bill_columns(terms, use),
        terms=terms,
        use=use,
        considered=considered,
        removed=removed,
        seconds=time.perf_counter() - begin,
        complete=shortlist.complete,
    )


def within(seconds: float) -> Callable[[], bool]:
    """Return what says yes once so many seconds have passed, for ``stop`` of `evaluate`."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() >= end


def _only(
    catalog: Catalog, hardware: pd.DataFrame, shape_of_offer: np.ndarray, only: Machines
) -> tuple[pd.DataFrame, np.ndarray]:
    offers = catalog.offers
    chosen = (offers["cloud"] == only.cloud) & (offers["instance_type"] == only.instance_type)
    shapes = np.unique(shape_of_offer[chosen.to_numpy()])
    kept = shapes[shapes >= 0]
    return hardware.iloc[kept], np.where(chosen & (shape_of_offer >= 0), 0, -1)


def _price(
    workload: Workload,
    catalog: Catalog,
    options: SearchOptions,
    best: BestLayouts,
    shape_of_offer: np.ndarray,
) -> tuple[pd.DataFrame, BillTerms, BillUse, int]:
    """Return the table, what bills are made of, and how many plans never finish.

    Interruptions can keep a plan from ever getting done.
    """
    offer, entry = _join(shape_of_offer, best.hardware)
    plans = _timed(workload, catalog, options, best, offer, entry)
    finishes = np.isfinite(plans["interruption_h"].to_numpy())
    endless = int((~finishes).sum())
    if endless:
        plans = plans[finishes].reset_index(drop=True)
    terms = terms_of(catalog, options.data, plans)
    use = use_of(
        workload,
        options.data,
        plans,
        retry_share=options.retry_share,
        step_s=best.prediction.step_s,
    )
    return plans.assign(**_intervals(plans, terms, use, best.prediction)), terms, use, endless


def _timed(
    workload: Workload,
    catalog: Catalog,
    options: SearchOptions,
    best: BestLayouts,
    offer: np.ndarray,
    entry: np.ndarray,
) -> pd.DataFrame:
    """Return one row per plan with the hours it takes."""
    prediction = best.prediction
    machines = best.machines[entry].astype(float)
    known = offer_columns(catalog).drop(columns=[*OFFER_TERMS])
    columns = known.iloc[offer].reset_index(drop=True)
    startup = cluster_startup(
        columns.pop("startup_s").to_numpy(float),
        columns.pop("startup_p90_s").to_numpy(float),
        machines,
    )
    training_h = prediction.step_s * workload.steps / HOUR_S * (1 + options.retry_share)
    plans = columns.assign(
        offer=offer,
        entry=entry,
        machines=machines.astype(int),
        accelerators_total=machines * columns["accelerators"].to_numpy(float),
        training_h=training_h[entry],
        startup_h=startup.median_s / HOUR_S,
        startup_log_sigma=startup.log_sigma,
        log_sigma=prediction.log_sigma[entry],
        out_of_memory=best.out_of_memory[entry],
        difficulty=prediction.difficulty[entry],
    )
    interruptions = interruption_columns(plans, catalog, checkpoint_bytes(workload))
    return pd.concat([plans, interruptions], axis=1)


def _intervals(
    plans: pd.DataFrame, terms: BillTerms, use: BillUse, prediction: Prediction
) -> dict[str, FloatArray]:
    """Return hours and cost with their bounds, from those of the work and of the start.

    The bill of a bound is that of its hours: machines are paid while they start, storage as long
    as the job runs; failed attempts and traffic stay. Where the interruptions are known the bounds
    are the same quantiles of the finish with them.
    """
    entry = plans["entry"].to_numpy()
    work_h, startup_h = plans["training_h"].to_numpy(), plans["startup_h"].to_numpy()
    hours = work_h + startup_h + plans["interruption_h"].to_numpy()
    columns = {"hours": hours, "cost_usd": bill_columns(terms, use).total_usd}
    deviations = prediction.log_half_width[entry] / prediction.log_sigma[entry]
    rows = known_rows(plans)
    law = law_of(plans, rows)
    for bound, sign, nearer in (("low", -1.0, np.minimum), ("high", 1.0, np.maximum)):
        work = np.exp(sign * prediction.log_half_width[entry])
        start = np.exp(sign * deviations * plans["startup_log_sigma"].to_numpy())
        reached = work_h * work + startup_h * start
        known = law.quantile(ndtr(sign * deviations[rows])) / HOUR_S
        # An expectation can lie beyond a quantile: rare interruptions that cost much.
        reached[rows] = nearer(np.maximum(known, reached[rows]), hours[rows])
        columns[f"hours_{bound}"] = reached
        columns[f"cost_{bound}_usd"] = total_at(terms, use, reached)
    return columns


def _join(shape_of_offer: np.ndarray, shape_of_entry: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (offer, entry) positions of every offer with every entry of its machine shape.

    `shape_of_entry` is sorted, so the entries of a shape are one slice.
    """
    starts = np.searchsorted(shape_of_entry, shape_of_offer, side="left")
    stops = np.searchsorted(shape_of_entry, shape_of_offer, side="right")
    many = stops - starts
    offer = np.repeat(np.arange(len(shape_of_offer)), many)
    within = np.arange(len(offer)) - np.repeat(np.cumsum(many) - many, many)
    return offer, np.repeat(starts, many) + within
