"""From a workload to the table of priced plans."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray
from advisor.predictor.costs import kind_of_family
from advisor.search.bill import BillColumns, bill_columns, checkpoint_bytes
from advisor.search.exact import BestLayouts, best_layouts
from advisor.search.hardware import hardware_table
from advisor.search.offers import offer_columns
from advisor.search.startup import Startup, cluster_startup
from advisor.search.wide import wide_pass

if TYPE_CHECKING:
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
    """

    most_accelerators: int = 512
    memory_margin: float = 0.1
    retry_share: float = 0.0

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
    ``offer`` the row of the catalog's offers. ``considered`` and ``removed`` count candidates,
    that is layouts per offer and count: what was not removed are the rows of ``plans``.
    """

    workload: Workload
    options: SearchOptions
    plans: pd.DataFrame
    best: BestLayouts
    bill: BillColumns
    considered: int
    removed: dict[str, int]
    seconds: float


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
) -> Evaluated:
    """Search all offers × counts × layouts.

    Physically identical machines are evaluated once; for each machine shape and count the layout
    that is expected to finish first is kept, since on the same machines it is also the cheapest.
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
    )
    best = best_layouts(shortlist, predictor)
    plans, bill = _price(workload, catalog, options, best, shape_of_offer)
    offers_per_shape = np.bincount(shape_of_offer[shape_of_offer >= 0], minlength=len(hardware))
    considered = int(shortlist.considered @ offers_per_shape)
    too_large = int(shortlist.too_large @ offers_per_shape)
    return Evaluated(
        workload=workload,
        options=options,
        plans=plans,
        best=best,
        bill=bill,
        considered=considered,
        removed={"memory": too_large, "slower_layout": considered - too_large - len(plans)},
        seconds=time.perf_counter() - begin,
    )


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
) -> tuple[pd.DataFrame, BillColumns]:
    offer, entry = _join(shape_of_offer, best.hardware)
    prediction = best.prediction
    machines = best.machines[entry].astype(float)
    columns = offer_columns(catalog).iloc[offer].reset_index(drop=True)
    training_h = (prediction.step_s * workload.steps / HOUR_S)[entry]
    startup = cluster_startup(
        columns.pop("startup_s").to_numpy(float),
        columns.pop("startup_p90_s").to_numpy(float),
        machines,
    )
    startup_h = startup.median_s / HOUR_S
    bill = bill_columns(
        machines=machines,
        usd_per_h=columns["usd_per_h"].to_numpy(float),
        training_h=training_h,
        startup_h=startup_h,
        retry_share=options.retry_share,
        checkpoint_bytes=checkpoint_bytes(workload),
        storage_usd_per_gb_month=columns.pop("storage_usd_per_gb_month").to_numpy(float),
    )
    work_h = training_h * (1 + options.retry_share)
    plans = columns.assign(
        offer=offer,
        entry=entry,
        machines=machines.astype(int),
        accelerators_total=machines * columns["accelerators"].to_numpy(float),
        training_h=work_h,
        startup_h=startup_h,
        startup_log_sigma=startup.log_sigma,
        **_intervals(bill, work_h, startup, prediction, entry),
        log_sigma=prediction.log_sigma[entry],
        out_of_memory=best.out_of_memory[entry],
        difficulty=prediction.difficulty[entry],
    )
    return plans, bill


def _intervals(
    bill: BillColumns,
    work_h: FloatArray,
    startup: Startup,
    prediction: Prediction,
    entry: np.ndarray,
) -> dict[str, FloatArray]:
    """Return hours and cost with their bounds, from those of the work and of the start.

    Machines are paid while they start; storage is paid as long as the job runs.
    """
    startup_h = startup.median_s / HOUR_S
    hours = work_h + startup_h
    storage_usd_per_h = np.nan_to_num(bill.storage_usd) / hours
    work_usd = bill.machines_usd + bill.retries_usd
    columns = {"hours": hours, "cost_usd": bill.total_usd}
    deviations = prediction.log_half_width[entry] / prediction.log_sigma[entry]
    for bound, sign in (("low", -1.0), ("high", 1.0)):
        work = np.exp(sign * prediction.log_half_width[entry])
        start = np.exp(sign * deviations * startup.log_sigma)
        columns[f"hours_{bound}"] = work_h * work + startup_h * start
        columns[f"cost_{bound}_usd"] = (
            work_usd * work
            + bill.startup_usd * start
            + storage_usd_per_h * columns[f"hours_{bound}"]
        )
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
