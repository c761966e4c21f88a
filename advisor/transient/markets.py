"""Which lifetime a spot machine has: by place and GPU where it was measured, else by its band.

What is known is little and old: three GPUs on Google's preemptible machines in 2019, and for AWS
a band of the monthly share of interrupted machines. Where neither exists the answer is that
there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np
import pandas as pd
from scipy.special import ndtri

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S, HOURS_PER_MONTH
from advisor.transient.fit import (
    fit_gpu_and_places,
    fit_piecewise,
    fit_weibull,
    spread_of_places,
)
from advisor.transient.lifetime import Lifetime
from advisor.transient.observed import Observed
from advisor.transient.piecewise import PiecewiseHazard
from advisor.transient.tables import table
from advisor.transient.together import measured_together

NO_DATA: Final = "no interruption data for this market"
PREEMPTIBLE_CAP_S: Final = 24 * HOUR_S
HOURS: Final = np.arange(24.0) * HOUR_S
TAIL_FROM_H: Final = 12  # the hazard of these hours holds after the day that was watched
MONTH_S: Final = HOURS_PER_MONTH * HOUR_S
BANDS_SOURCE: Final = "AWS Spot Instance Advisor"
BANDS_YEAR: Final = 2025

Kind = Literal["place", "accelerator", "band", "history", "given"]


@dataclass(frozen=True, slots=True)
class LifetimeBasis:
    """What a lifetime rests on; `n` machines were watched in `year` (0: not counted)."""

    kind: Kind
    accelerator: str
    region: str
    n: int
    year: int
    source: str
    words: str


@dataclass(frozen=True, slots=True)
class KnownLifetime:
    """A lifetime, how well its hazard is known, and from what.

    Parameters
    ----------
    lifetime : Lifetime
        The central one.
    log_sigma : float
        Standard deviation of the logarithm of the factor on its hazard.
    basis : LifetimeBasis
        What it rests on.
    """

    lifetime: Lifetime
    log_sigma: float
    basis: LifetimeBasis


def known_lifetime(
    accelerator: str,
    cloud: str,
    region: str,
    market: str = "spot",
    band: tuple[float, float] | None = None,
) -> KnownLifetime | None:
    """Return the lifetime of a spot machine, or None: `NO_DATA`.

    Parameters
    ----------
    accelerator, cloud, region : str
        Names as in the catalog.
    market : str
        ``"spot"``, or ``"preemptible"`` for the one that stops every machine after 24 h.
    band : tuple of float, optional
        Bounds of the share of machines interrupted in a month, where published.
    """
    gpu = accelerator.split("-", maxsplit=1)[0]  # V100-16GB and V100-32GB were not told apart
    cap_s = PREEMPTIBLE_CAP_S if market == "preemptible" else math.inf
    if cloud == "gcp" and gpu in measured_gpus():
        return _measured(gpu, region, cap_s)
    if band is not None:
        return from_band(*band, accelerator=accelerator, region=region, cap_s=cap_s)
    return None


@cache
def measured_gpus() -> tuple[str, ...]:
    """Names of the GPUs whose lifetimes were measured."""
    return tuple(sorted(table("revocations")["gpu"].unique()))


@cache
def observed_places(gpu: str) -> dict[str, Observed]:
    """Return the observed lifetimes of a GPU by region."""
    frame = table("revocations")
    frame = frame[frame["gpu"] == gpu]
    return {str(region): observed_of(rows) for region, rows in frame.groupby("region")}


def observed_of(rows: pd.DataFrame) -> Observed:
    """Turn counts per hour of age of one group of machines into observations."""
    left = float(rows["machines"].iloc[0] - rows["revoked"].sum())
    ages = rows[["age_from_h", "age_to_h"]].to_numpy(float) * HOUR_S
    return Observed(
        np.append(ages[:, 0], ages[-1, 1]),
        np.append(ages[:, 1], np.inf),
        np.append(rows["revoked"].to_numpy(float), left),
    )


@cache
def _fitted(gpu: str) -> tuple[PiecewiseHazard, dict[str, PiecewiseHazard]]:
    of_gpu, by_place = fit_gpu_and_places(observed_places(gpu), HOURS)
    return with_tail(of_gpu), {place: with_tail(found) for place, found in by_place.items()}


def with_tail(lifetime: PiecewiseHazard) -> PiecewiseHazard:
    """Let the mean hazard of the last hours hold for ever: one hour alone is too noisy."""
    rates = np.asarray(lifetime.rates_per_s)
    tail = float(rates[TAIL_FROM_H:].mean())
    return PiecewiseHazard(
        edges_s=(*lifetime.edges_s, lifetime.edges_s[-1] + HOUR_S),
        rates_per_s=(*lifetime.rates_per_s, tail),
        cap_s=lifetime.cap_s,
    )


def _measured(gpu: str, region: str, cap_s: float) -> KnownLifetime:
    of_gpu, by_place = _fitted(gpu)
    frame = table("revocations")
    year = int(frame["year"].iloc[0])
    places = observed_places(gpu)
    here = region in by_place
    seen = [places[region]] if here else list(places.values())
    n = sum(one.n for one in seen)
    revocations = sum(one.revocations for one in seen)
    where = region if here else f"{len(places)} other regions"
    seen_there = f"{n:,.0f} {gpu} of Google's cloud in {where}, {year}"
    return KnownLifetime(
        lifetime=(by_place[region] if here else of_gpu).capped(cap_s),
        log_sigma=math.hypot(_counted(revocations), 0.0 if here else _between_places(gpu)),
        basis=LifetimeBasis(
            kind="place" if here else "accelerator",
            accelerator=gpu,
            region=region if here else "",
            n=int(n),
            year=year,
            source="cake-lab/CM-DARE",
            words=f"{seen_there}: {revocations:,.0f} revoked in 24 h",
        ),
    )


def _counted(revocations: float) -> float:
    """Spread of the logarithm of a rate counted from batches: fewer events than revocations."""
    events = revocations / measured_together().design_effect
    return 1 / math.sqrt(events + 1)


@cache
def _between_places(gpu: str) -> float:
    """Spread of the logarithm of the hazard between regions; not below that of any known region.

    Four regions may look alike by chance; a region never seen is not surer than one that was.
    """
    places = observed_places(gpu)
    of_gpu, _ = _fitted(gpu)
    spread = spread_of_places(places, of_gpu, measured_together().design_effect)
    return max(spread, *(_counted(one.revocations) for one in places.values()))


@cache
def usual_shape() -> PiecewiseHazard:
    """Return the lifetime of all measured machines: the shape where only a rate is known."""
    every = [seen for gpu in measured_gpus() for seen in observed_places(gpu).values()]
    pooled = every[0].joined(*every[1:])
    return with_tail(fit_piecewise(pooled, HOURS, fit_weibull(pooled)))


def from_band(
    low: float,
    high: float,
    *,
    accelerator: str = "",
    region: str = "",
    cap_s: float = math.inf,
    front_loaded: bool = True,
) -> KnownLifetime:
    """Turn bounds of the monthly share of interrupted machines into a lifetime.

    The share is taken as even between the bounds, and as the chance that a machine which runs for
    a month is interrupted in it. When in the month a machine goes the band does not say: by
    default early, as all measured machines do; else evenly.

    Raises
    ------
    InvalidInputError
        If the bounds are no shares in rising order.
    """
    if not 0 <= low < high <= 1:
        raise InvalidInputError(
            f"{low:g} to {high:g} are no bounds of a share.",
            where="interruption band",
            todo="Give shares from 0 to 1, the lower one first.",
        )
    inside = low + (high - low) * np.array([0.16, 0.5, 0.84])
    lower, middle, upper = -np.log1p(-inside)
    shape = usual_shape()
    if not front_loaded:
        shape = PiecewiseHazard(edges_s=(0.0,), rates_per_s=(1.0 / MONTH_S,))
    factor = middle / float(shape.cumulative_hazard(MONTH_S))
    rates = tuple((np.asarray(shape.rates_per_s) * factor).tolist())
    return KnownLifetime(
        lifetime=PiecewiseHazard(edges_s=shape.edges_s, rates_per_s=rates, cap_s=cap_s),
        log_sigma=float(np.log(upper / lower) / (2 * ndtri(0.84))),
        basis=LifetimeBasis(
            kind="band",
            accelerator=accelerator,
            region=region,
            n=0,
            year=BANDS_YEAR,
            source=BANDS_SOURCE,
            words=f"{low * 100:.0f}–{high * 100:.0f} % of machines interrupted in a month; "
            + ("early ones as measured on Google's cloud in 2019" if front_loaded else "evenly"),
        ),
    )
