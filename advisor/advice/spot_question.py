"""A plan named by machines, region and market; own history and prices from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.advice.machines import parse_machines
from advisor.advice.spot_job import SpotOptions
from advisor.core.errors import InvalidInputError, NoFeasiblePlanError
from advisor.core.units import HOUR_S
from advisor.search.search import Evaluated, SearchOptions, evaluate
from advisor.transient.history import lifetime_of_history, read_history
from advisor.transient.price_history import read_prices

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.domain import Workload

USUAL: SearchOptions = SearchOptions()


def named_plan(
    machines: str, region: str, market: str, workload: Workload, engine: Engine
) -> tuple[Evaluated, int]:
    """Evaluate the job and return the row of the machines; without a region the cheapest.

    Parameters
    ----------
    machines : str
        As `parse_machines` reads them: ``4 x p4d.24xlarge``.
    region : str
        As in the catalog, or empty.
    market : str
        ``"spot"`` or ``"on_demand"``.

    Raises
    ------
    InvalidInputError
        If the machines are unknown, or not offered there.
    NoFeasiblePlanError
        If the job does not run on them.
    """
    count, machine = parse_machines(machines, engine.catalog)
    most = max(USUAL.most_accelerators, int(np.ceil(2 * count * machine.accelerators)))
    evaluated = evaluate(
        workload, engine.catalog, engine.predictor, SearchOptions(most_accelerators=most)
    )
    plans = evaluated.plans
    offers = engine.catalog.offers
    sold = offers[(offers["cloud"] == machine.cloud) & (offers["instance_type"] == machine.name)]
    sold = sold[sold["market"] == market]
    regions = sorted(sold["region"].astype(str).unique())
    if not regions or (region and region not in regions):
        raise InvalidInputError(
            f"the catalog has no {market.replace('_', '-')} price of {machine.name}"
            f"{f' in {region}' if region else ''}.",
            where="machines",
            todo=f"Regions: {', '.join(regions)}." if regions else "Take another machine.",
        )
    mask = (plans["instance_type"] == machine.name) & (plans["cloud"] == machine.cloud)
    mask &= (plans["market"] == market) & (plans["machines"] == count)
    if region:
        mask &= plans["region"] == region
    rows = np.flatnonzero(mask.to_numpy())
    if not len(rows):
        raise NoFeasiblePlanError(
            f"the job does not run on {count} × {machine.name}.",
            todo="Take another number of them: the batch must divide over them and fit in memory.",
        )
    cost = plans["cost_usd"].to_numpy()[rows]
    return evaluated, int(rows[np.argmin(cost)])


def spot_options(
    *,
    interval_h: float | None = None,
    history: str | None = None,
    prices: str | None = None,
    ceiling_usd: float | None = None,
    samples_factor: float = 1.0,
    wait_h: float = 0.0,
) -> SpotOptions:
    """Return the options of values in hours and of the texts of files.

    Parameters
    ----------
    interval_h, wait_h : float
        Work between checkpoints, and how long no machine can be had after a revocation [h].
    history : str, optional
        Text of a CSV, as `read_history` reads it.
    prices : str, optional
        Text of a CSV, as `read_prices` reads it.
    ceiling_usd : float, optional
        Price of one machine above which it is given back [USD/h].
    samples_factor : float
        See `SpotOptions`.

    Raises
    ------
    InvalidInputError
        If a file cannot be read, or a ceiling has no prices.
    """
    known = None if history is None else lifetime_of_history(read_history(history))
    read = None if prices is None else read_prices(prices)
    return SpotOptions(
        interval_s=None if interval_h is None else interval_h * HOUR_S,
        history=known,
        prices_usd_per_h=() if read is None else read.usd_per_h,
        ceiling_usd_per_h=ceiling_usd,
        samples_factor=samples_factor,
        wait_s=wait_h * HOUR_S,
    )
