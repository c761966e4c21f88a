"""Spot plans by the ten thousand: expected and 90th-percentile bill, hours, chance of a deadline.

A plan restarts as a whole on a revocation and writes checkpoints at Young's interval, with the
mean time between revocations that its group meets during the job. The renewal recursion gives
the first two moments for three hazards and three amounts of work (Gauss–Hermite nodes). The
finish time is then a mixture of two log-normal laws: runs that are never interrupted, and others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.interval import between_revocations_s, young_s
from advisor.transient.law import LAW, NODES, WEIGHTS, finish_law
from advisor.transient.markets import NO_DATA, KnownLifetime, known_lifetime
from advisor.transient.renewal import RestartColumns, restart_moments
from advisor.transient.together import group_hazard, measured_together

if TYPE_CHECKING:
    from advisor.catalog import Catalog

BLOCKS: Final = 14
# No measurement of today's machines is at hand; give your own where you know it.
ASSUMED_WRITE_BYTES_PER_S: Final = 1e9
NEEDED: Final = ("cloud", "region", "accelerator", "market", "machines", "training_h", "log_sigma",
                 "usd_per_h", "checkpoint_bytes", "startup_s", "startup_log_sigma")  # fmt: skip
NUMBERS: Final = NEEDED[4:]
BAND: Final = ("interruption_low", "interruption_high")


def with_bands(plans: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return plans with the published bounds of their monthly interruptions; NaN: not published.

    Parameters
    ----------
    plans : pandas.DataFrame
        With cloud, region and instance_type.
    """
    frame = catalog.tables.interruption.rename(
        columns=dict(zip(("low", "high"), BAND, strict=True))
    )
    keys = ["cloud", "region", "instance_type"]
    known = frame[[*keys, *BAND]].astype(dict.fromkeys(keys, object))
    asked = plans[keys].astype(object)
    found = asked.merge(known, on=keys, how="left")[list(BAND)]
    return plans.assign(**{name: found[name].to_numpy() for name in BAND})


def spot_columns(
    plans: pd.DataFrame,
    *,
    deadline_h: float | None = None,
    write_bytes_per_s: float = ASSUMED_WRITE_BYTES_PER_S,
    common_share: float | None = None,
) -> pd.DataFrame:
    """Return time and bill of spot plans, with what each number rests on.

    Parameters
    ----------
    plans : pandas.DataFrame
        One row per plan: cloud, region, accelerator, market (``"spot"`` or ``"preemptible"``),
        machines, training_h (median, without interruption), log_sigma (of it), usd_per_h of one
        machine, checkpoint_bytes of the whole job, startup_s (median) and startup_log_sigma (of
        the first start; slow together with the work); where published,
        interruption_low and interruption_high (see `with_bands`).
    deadline_h : float, optional
        The chance to meet it is given.
    write_bytes_per_s : float
        Each machine writes and reads its share of a checkpoint so fast [bytes/s].
    common_share : float, optional
        Share of revocations that take all machines at once; by default the measured one.

    Returns
    -------
    pandas.DataFrame
        Same index: expected_usd, p90_usd, hours (expected), hours_p10, hours_p50, hours_p90,
        deadline_probability, revocations (expected), untouched (chance of none), interval_h,
        lost_h (expected hours that are neither start nor work: checkpoints, work done again,
        new starts); the columns of the law of the finish, see `FinishLaw.of_columns`; least_usd
        and least_h, the bounds without any revocation, always known; basis, basis_gpu,
        basis_region, basis_n, basis_year. Without data the estimates are NaN and `basis` says so;
        a plan that does not get ahead takes infinitely long.

    Raises
    ------
    InvalidInputError
        If a column is missing, or a number is out of range.
    """
    _check(plans)
    if not write_bytes_per_s > 0:
        raise InvalidInputError("must be above 0.", where="write_bytes_per_s")
    share = measured_together().common_share if common_share is None else common_share
    given = {name: plans[name].to_numpy(float) for name in NUMBERS}
    inputs = _Inputs.of(given, write_bytes_per_s, share)
    result = _empty(plans, inputs, given)
    for known, rows in _by_lifetime(plans):
        basis = known.basis
        facts = (basis.words, basis.accelerator, basis.region, basis.n, basis.year)
        for column, value in zip(BASIS, facts, strict=True):
            result[column][rows] = value
        distinct, place = inputs.take(rows).distinct()
        for name, values in _estimate(known, distinct, deadline_h).items():
            result[name][rows] = values[place]
    rate = given["machines"] * given["usd_per_h"]
    result["expected_usd"] = rate * result["hours"]
    result["p90_usd"] = rate * result["hours_p90"]
    return pd.DataFrame(result, index=plans.index)


BASIS: Final = ("basis", "basis_gpu", "basis_region", "basis_n", "basis_year")
ESTIMATES: Final = ("expected_usd", "p90_usd", "hours", "hours_p10", "hours_p50", "hours_p90",
                    "deadline_probability", "interval_h", "lost_h", *LAW)  # fmt: skip


@dataclass(frozen=True)
class _Inputs:
    """Columns of the plans, in seconds."""

    work_s: FloatArray
    work_log_sigma: FloatArray
    start_s: FloatArray
    start_log_sigma: FloatArray
    checkpoint_s: FloatArray
    times: FloatArray

    @classmethod
    def of(cls, given: dict[str, FloatArray], bytes_per_s: float, share: float) -> _Inputs:
        return cls(
            work_s=given["training_h"] * HOUR_S,
            work_log_sigma=given["log_sigma"],
            start_s=given["startup_s"],
            start_log_sigma=given["startup_log_sigma"],
            checkpoint_s=given["checkpoint_bytes"] / (given["machines"] * bytes_per_s),
            times=group_hazard(given["machines"], share),
        )

    def take(self, rows: np.ndarray) -> _Inputs:
        return _Inputs(**{name: values[rows] for name, values in vars(self).items()})

    def distinct(self) -> tuple[_Inputs, np.ndarray]:
        """Return the rows that differ, and the place of every row among them.

        Many plans differ in their price only.
        """
        table = np.stack(list(vars(self).values()), axis=1)
        rows, place = np.unique(table, axis=0, return_inverse=True)
        return _Inputs(**dict(zip(vars(self), rows.T, strict=True))), place.ravel()


def _check(plans: pd.DataFrame) -> None:
    missing = [name for name in NEEDED if name not in plans]
    if missing:
        raise InvalidInputError(
            f"the column {missing[0]} is missing.",
            where="spot plans",
            todo=f"Columns: {', '.join(NEEDED)}.",
        )
    numbers = plans[list(NUMBERS)].to_numpy(float)
    zero_is_fine = np.isin(
        NUMBERS, ("log_sigma", "checkpoint_bytes", "startup_s", "startup_log_sigma")
    )
    bad = ~np.isfinite(numbers) | (numbers < 0) | ((numbers == 0) & ~zero_is_fine)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InvalidInputError(
            f"{NUMBERS[column]} is {numbers[row, column]:g}.",
            where=f"spot plans, row {row}",
            todo="Give a positive number.",
        )


def _empty(
    plans: pd.DataFrame, inputs: _Inputs, given: dict[str, FloatArray]
) -> dict[str, np.ndarray]:
    size = len(plans)
    least_h = (inputs.start_s + inputs.work_s) / HOUR_S
    return {
        **{name: np.full(size, np.nan) for name in ESTIMATES},
        "least_usd": given["machines"] * given["usd_per_h"] * least_h,
        "least_h": least_h,
        "basis": np.full(size, NO_DATA, object),
        "basis_gpu": np.full(size, "", object),
        "basis_region": np.full(size, "", object),
        "basis_n": np.zeros(size, int),
        "basis_year": np.zeros(size, int),
    }


def _by_lifetime(plans: pd.DataFrame) -> list[tuple[KnownLifetime, np.ndarray]]:
    """Group the rows by what their lifetime rests on; rows without one are left out."""
    bands = plans[list(BAND)] if set(BAND) <= set(plans) else pd.DataFrame(index=plans.index)
    keys = plans[["accelerator", "cloud", "region", "market"]].astype(object)
    for name in BAND:
        keys[name] = bands[name].to_numpy(float) if name in bands else np.nan
    groups: dict[KnownLifetime, list[np.ndarray]] = {}
    codes = keys.groupby(list(keys.columns), sort=False, dropna=False).ngroup().to_numpy()
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else []:
        *names, low, high = keys.iloc[rows[0]]
        known = _cached(*names, None if math.isnan(low) else (low, high))
        if known is not None:
            groups.setdefault(known, []).append(rows)
    return [(known, np.concatenate(rows)) for known, rows in groups.items()]


@lru_cache(maxsize=4096)
def _cached(
    accelerator: str, cloud: str, region: str, market: str, band: tuple[float, float] | None
) -> KnownLifetime | None:
    # A band knows neither GPU nor region: plans of one band are evaluated together.
    known = known_lifetime(accelerator, cloud, region, market)
    return known or known_lifetime("", "", "", market, band)


def _estimate(
    known: KnownLifetime, plans: _Inputs, deadline_h: float | None
) -> dict[str, FloatArray]:
    age = plans.checkpoint_s + plans.work_s
    between_s = between_revocations_s(known.lifetime, age, plans.times)
    interval_s = young_s(plans.checkpoint_s, between_s, plans.work_s)
    parts = np.maximum(1.0, np.round(plans.work_s / interval_s))
    part_s = plans.work_s / parts + plans.checkpoint_s
    load_s = plans.checkpoint_s  # the last checkpoint is read as fast as it was written
    hazards = np.exp(known.log_sigma * NODES)
    scale = np.exp(plans.work_log_sigma[:, None] * NODES)
    first_s = plans.start_s[:, None] * np.exp(plans.start_log_sigma[:, None] * NODES)
    later_s = first_s - plans.start_s[:, None]
    columns = RestartColumns(
        times=(plans.times[:, None] * hazards).ravel(),
        **{
            name: np.repeat(values, len(NODES))
            for name, values in (
                ("part_s", part_s), ("load_s", load_s), ("delay_s", plans.start_s),
                ("wait_s", np.zeros(len(parts))),
            )
        },
    )  # fmt: skip
    most = np.repeat(np.ceil(parts * scale[:, -1]), len(NODES))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        moments = restart_moments(known.lifetime, columns, BLOCKS, most)
        law = finish_law(moments, parts, scale, plans.start_s + load_s, part_s, later_s)
    hours = {f"hours_p{level * 100:.0f}": law.quantile(level) / HOUR_S for level in (0.1, 0.5, 0.9)}
    met = math.nan if deadline_h is None else law.share_below(deadline_h * HOUR_S)
    undisturbed_s = first_s @ WEIGHTS + plans.work_s * (scale @ WEIGHTS)
    return {
        "hours": law.mean_s / HOUR_S,
        **hours,
        "deadline_probability": np.broadcast_to(met, len(parts)),
        "interval_h": plans.work_s / parts / HOUR_S,
        "lost_h": np.maximum(0.0, law.mean_s - undisturbed_s) / HOUR_S,
        **law.columns(),
    }
