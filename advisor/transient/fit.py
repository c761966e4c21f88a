"""Fit lifetimes to observed ones.

The hazard that we use is empirical: revocations over machine-hours in every hour of age, drawn
towards a prior by a weight in machine-hours. The prior of a place is its GPU, that of a GPU the
Weibull lifetime of the GPU; a place with few machines is thus close to what is known of its kind.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaincinv

from advisor.core.errors import PredictionError
from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.lifetime import Exponential, Lifetime, Weibull
from advisor.transient.observed import Observed
from advisor.transient.piecewise import PiecewiseHazard

# Machine-hours of belief in the prior, chosen on GPUs with places held out: revocations come in
# batches, so one hour of one GPU says little, and the Weibull curve behind it a lot.
GPU_WEIGHT_H: Final = 240.0
PLACE_WEIGHT_H: Final = 20.0
LOGS: Final = (-30.0, 10.0)


def fit_exponential(observed: Observed) -> Exponential:
    """Return the constant hazard of highest likelihood, intervals included."""
    _check_events(observed)

    def misfit(log_rate: float) -> float:
        return -observed.log_likelihood(Exponential(rate_per_s=math.exp(log_rate)))

    found = minimize_scalar(misfit, bounds=LOGS, method="bounded")
    return Exponential(rate_per_s=math.exp(found.x))


def fit_weibull(observed: Observed) -> Weibull:
    """Return the Weibull lifetime of highest likelihood, intervals included.

    Raises
    ------
    PredictionError
        If no machine was revoked, or the likelihood has no maximum.
    """
    start = 1 / fit_exponential(observed).rate_per_s

    def misfit(point: FloatArray) -> float:
        shape, scale = np.exp(np.clip(point, (-4, 0), (3, 40)))
        return -observed.log_likelihood(Weibull(shape=float(shape), scale_s=float(scale)))

    with np.errstate(invalid="ignore"):  # an endless likelihood is refused below
        found = minimize(
            misfit,
            [-0.5, math.log(start)],
            method="Nelder-Mead",
            options={"xatol": 1e-5, "fatol": 1e-6, "maxiter": 2000},
        )
    if not (found.success and np.isfinite(found.fun)):
        raise PredictionError(
            f"no Weibull lifetime fits {observed.n:,.0f} machines best.",
            where="observed lifetimes",
            todo="Check the ages: a revocation at age 0 needs an interval.",
        )
    shape, scale = np.exp(np.clip(found.x, (-4, 0), (3, 40)))
    return Weibull(shape=float(shape), scale_s=float(scale))


def fit_piecewise(
    observed: Observed,
    edges_s: FloatArray,
    prior: Lifetime | None = None,
    prior_weight_h: float = PLACE_WEIGHT_H,
) -> PiecewiseHazard:
    """Return the hazard between ages, drawn towards a prior.

    The mean of a gamma posterior: (revocations + weight × prior hazard) ÷ (exposure + weight).

    Parameters
    ----------
    observed : Observed
        What was seen.
    edges_s : array, shape (bins,)
        Ages from which a hazard holds, rising from 0; the last one holds on [s].
    prior : Lifetime, optional
        Without one, the constant hazard of all revocations.
    prior_weight_h : float
        Machine-hours of belief in the prior, in every bin.
    """
    bounds = np.append(edges_s, np.inf)
    events, exposure = observed.life_table(bounds)
    if prior is None:
        _check_events(observed)
        expected = np.full(len(edges_s), events.sum() / exposure.sum())
    else:
        expected = mean_hazard(prior, edges_s)
    weight = prior_weight_h * HOUR_S
    rates = (events + weight * expected) / (exposure + weight)
    return PiecewiseHazard(edges_s=tuple(edges_s.tolist()), rates_per_s=tuple(rates.tolist()))


def mean_hazard(lifetime: Lifetime, edges_s: FloatArray) -> FloatArray:
    """Mean hazard of every bin [1/s]; the last bin is taken as wide as the one before it."""
    width = np.diff(edges_s) if len(edges_s) > 1 else np.array([HOUR_S])
    bounds = np.append(edges_s, edges_s[-1] + width[-1])
    return np.asarray(np.diff(lifetime.cumulative_hazard(bounds)) / np.diff(bounds))


def fit_gpu_and_places(
    places: dict[str, Observed], edges_s: FloatArray
) -> tuple[PiecewiseHazard, dict[str, PiecewiseHazard]]:
    """Return the lifetime of a GPU and that of it in each place, drawn towards the former."""
    every = list(places.values())
    pooled = every[0].joined(*every[1:])
    of_gpu = fit_piecewise(pooled, edges_s, fit_weibull(pooled), GPU_WEIGHT_H)
    return of_gpu, {
        name: fit_piecewise(seen, edges_s, of_gpu, PLACE_WEIGHT_H) for name, seen in places.items()
    }


def spread_of_places(
    places: dict[str, Observed], of_gpu: PiecewiseHazard, design_effect: float = 1.0
) -> float:
    """Standard deviation over places of the logarithm of their factor on the hazard of a GPU.

    By moments: revocations over those that the GPU lets expect at the same ages vary more than
    counts do by chance; the rest lies between the places. With one place nothing is known of it: 0.

    Parameters
    ----------
    places : dict
        What was seen in each place.
    of_gpu : PiecewiseHazard
        Lifetime of the GPU over all places.
    design_effect : float
        Revocations that say as much as one that is independent of the others.
    """
    if len(places) < 2:
        return 0.0
    bounds = np.append(of_gpu.edges_s, np.inf)
    rates = np.asarray(of_gpu.rates_per_s)
    seen = np.array([one.revocations for one in places.values()])
    expected = np.array([one.life_table(bounds)[1] @ rates for one in places.values()])
    # Half an event keeps a place without any finite.
    ratios = np.log((seen + 0.5) / (expected + 0.5))
    by_chance = (1 / (seen / design_effect + 1)).mean()
    return math.sqrt(max(0.0, float(ratios.var(ddof=1) - by_chance)))


def _check_events(observed: Observed) -> None:
    if observed.revocations == 0:
        raise PredictionError(
            f"none of {observed.n:,.0f} machines was revoked, so no rate can be fitted.",
            where="observed lifetimes",
            todo="Use `rate_bound` for the highest rate that is compatible with that.",
        )


def rate_bound(observed: Observed, level: float = 0.95) -> float:
    """Return the highest constant hazard compatible with what was seen [1/s].

    One-sided bound of a Poisson rate; with no revocation in 1,000 h it is 3 in 1,000 h.
    """
    exposure = float((observed.machines * observed.from_s).sum())
    if exposure <= 0:
        raise PredictionError("no machine ran for any time.", where="observed lifetimes")
    return float(gammaincinv(observed.revocations + 1, level) / exposure)
