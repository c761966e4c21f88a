"""A row of the table as a job on spot machines, with what is known of their lifetime."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.domain.spot import LifetimeData
from advisor.search.bill import checkpoint_bytes
from advisor.transient import Overheads, SpotJob, known_lifetime
from advisor.transient.columns import ASSUMED_WRITE_BYTES_PER_S
from advisor.transient.overheads import replacement_s
from advisor.transient.together import measured_together

if TYPE_CHECKING:
    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated
    from advisor.transient import KnownLifetime

SAME: Final = ("cloud", "instance_type", "region", "machines")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotOptions:
    """What the user may set beside the plan.

    Attributes
    ----------
    interval_s : float or None
        Work between checkpoints [s]; None: Young's rule.
    history : KnownLifetime or None
        The lifetime of the user's own machines; it goes before what is published.
    prices_usd_per_h, price_step_s : tuple of float, float
        A price history of one machine, evenly spaced; empty: none.
    ceiling_usd_per_h : float or None
        Machines run at or below this price; needs the history.
    samples_factor : float
        Samples that asynchronous workers need for the same accuracy, in those of one worker.
    wait_s : float
        After a revocation no machine can be had for so long [s].
    """

    interval_s: float | None = None
    history: KnownLifetime | None = None
    prices_usd_per_h: tuple[float, ...] = ()
    price_step_s: float = HOUR_S
    ceiling_usd_per_h: float | None = None
    samples_factor: float = 1.0
    wait_s: float = 0.0

    def __post_init__(self) -> None:
        if self.ceiling_usd_per_h is not None and not self.prices_usd_per_h:
            raise InvalidInputError(
                "a price ceiling needs a price history.",
                where="price ceiling",
                todo="Give a CSV with the columns time and usd_per_h.",
            )


USUAL: Final = SpotOptions()


def spot_row(plans: pd.DataFrame, row: int) -> int | None:
    """Return the row of the same machines on spot, None where they are not offered there."""
    return other_market(plans, row, "spot")


def known_of(plan: pd.Series[Any], catalog: Catalog) -> KnownLifetime | None:
    """Return the lifetime of the machines of a row on spot, None where nothing is known."""
    cloud, region = str(plan["cloud"]), str(plan["region"])
    band = catalog.interruption_band(cloud, region, str(plan["instance_type"]))
    return known_lifetime(str(plan["accelerator"]), cloud, region, "spot", band)


def data_of(known: KnownLifetime | None) -> LifetimeData | None:
    """Return on which data a lifetime rests, as a noun."""
    if known is None:
        return None
    basis = known.basis
    return LifetimeData(
        kind=basis.kind, accelerator=basis.accelerator, region=basis.region, n=basis.n,
        year=basis.year, source=basis.source, words=basis.words,
    )  # fmt: skip


def spot_job(
    evaluated: Evaluated,
    row: int,
    known: KnownLifetime,
    limits: Constraints,
    options: SpotOptions = USUAL,
) -> SpotJob:
    """Return a row of the table, one on spot, as a job that the policies work on."""
    plans = evaluated.plans
    plan = plans.iloc[row]
    machines = int(plan["machines"])
    written_s = checkpoint_bytes(evaluated.workload) / (machines * ASSUMED_WRITE_BYTES_PER_S)
    demand = other_market(plans, row, "on_demand")
    return SpotJob(
        work_s=float(plan["training_h"]) * HOUR_S,
        machines=machines,
        lifetime=known.lifetime,
        usd_per_h=float(plan["usd_per_h"]),
        overheads=Overheads(
            start_s=float(plan["startup_h"]) * HOUR_S,
            load_s=written_s,  # read as fast as it was written
            checkpoint_s=written_s,
            wait_s=options.wait_s,
            warm_s=replacement_s(0, "warm") + written_s,
        ),
        on_demand_usd_per_h=None if demand is None else float(plans["usd_per_h"].iloc[demand]),
        deadline_s=math.inf if limits.deadline_h is None else limits.deadline_h * HOUR_S,
        budget_usd=math.inf if limits.budget_usd is None else limits.budget_usd,
        common_share=measured_together().common_share,
        hazard_log_sigma=known.log_sigma,
        work_log_sigma=float(plan["log_sigma"]),
        samples_factor=options.samples_factor,
    )


def other_market(plans: pd.DataFrame, row: int, market: str) -> int | None:
    """Return the cheapest trusted row of the same machines in a market; `row` itself if it is."""
    if plans["market"].iloc[row] == market:
        return row
    same = (plans["market"] == market).to_numpy() & plans["rankable"].to_numpy(bool)
    for name in SAME:
        same &= (plans[name] == plans[name].iloc[row]).to_numpy()
    rows = np.flatnonzero(same)
    return int(rows[np.argmin(plans["usd_per_h"].to_numpy()[rows])]) if len(rows) else None
