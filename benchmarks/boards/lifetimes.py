"""Lifetimes held out: likelihood against exponential and Weibull, calibration of their chances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.stats import binom

from advisor.core.units import HOUR_S
from advisor.transient.fit import fit_exponential, fit_gpu_and_places, fit_weibull
from advisor.transient.markets import HOURS, known_lifetime, measured_gpus, observed_places
from advisor.transient.observed import Observed
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.predictor.arrays import FloatArray

FOLDS: Final = 5
REPEATS: Final = 4
AGES_H: Final = np.array([1, 2, 4, 8, 12, 24.0])
LEVEL: Final = 0.95


def lifetimes_places() -> Iterator[Row]:
    """Machines of every place held out in fifths, place known; four shuffles, mean."""
    rng = np.random.default_rng(0)
    within = []
    for gpu in measured_gpus():
        total = np.zeros(3)
        for _ in range(REPEATS):
            likelihood, hits = _fifths(gpu, rng)
            total += likelihood / REPEATS
            within += hits
        yield from _likelihoods(f"lifetimes_places.{gpu}", total)
    yield _calibration("lifetimes_places", within)


def _fifths(gpu: str, rng: np.random.Generator) -> tuple[FloatArray, list[bool]]:
    """Score one shuffle: log-likelihoods, and whether counts lie in their binomial range."""
    fold = {name: rng.permutation(int(seen.n)) % FOLDS
            for name, seen in observed_places(gpu).items()}  # fmt: skip
    total = np.zeros(3)
    expected = {name: np.zeros(len(AGES_H)) for name in fold}
    for number in range(FOLDS):
        parts = {name: _split(observed_places(gpu)[name], fold[name] == number) for name in fold}
        _, places = fit_gpu_and_places({name: part[0] for name, part in parts.items()}, HOURS)
        for name, (train, test) in parts.items():
            lives = (places[name], fit_exponential(train), fit_weibull(train))
            total += [test.log_likelihood(life) for life in lives]
            expected[name] += test.n * (1 - places[name].survival(AGES_H * HOUR_S))
    hits: list[bool] = []
    for name, revoked in expected.items():
        hits += _inside(observed_places(gpu)[name], revoked / observed_places(gpu)[name].n)
    return total, hits


def lifetimes_regions() -> Iterator[Row]:
    """One region held out whole, and predicted from the others of its GPU."""
    for gpu in measured_gpus():
        total = np.zeros(3)
        places = observed_places(gpu)
        for held, seen in places.items():
            rest = {name: one for name, one in places.items() if name != held}
            first, *others = rest.values()
            pooled = first.joined(*others)
            of_gpu, _ = fit_gpu_and_places(rest, HOURS)
            lives = (of_gpu, fit_exponential(pooled), fit_weibull(pooled))
            total += [seen.log_likelihood(life) for life in lives]
        yield from _likelihoods(f"lifetimes_regions.{gpu}", total)
    yield Row("lifetimes_regions.coverage_90", _coverage_of_regions(), "share")


def _coverage_of_regions() -> float:
    """Share of regional counts in the 90 % range, the spread between regions drawn in."""
    rng = np.random.default_rng(1)
    hits = []
    for gpu in measured_gpus():
        known = known_lifetime(gpu, "gcp", "")
        if known is None:
            continue
        factor = np.exp(known.log_sigma * rng.standard_normal(4000))[:, None]
        share = 1 - known.lifetime.survival(AGES_H * HOUR_S, factor)
        for seen in observed_places(gpu).values():
            drawn = rng.binomial(int(seen.n), share)
            low, high = np.quantile(drawn, (0.05, 0.95), axis=0)
            count = _revoked(seen)
            hits += ((count >= low) & (count <= high)).tolist()
    return float(np.mean(hits))


def _likelihoods(name: str, total: FloatArray) -> Iterator[Row]:
    own, exponential, weibull = (float(value) for value in total)
    other = max(exponential, weibull)
    yield Row(f"{name}.log_likelihood", own, "nats", f"> {other:.1f}", own > other)
    yield Row(f"peer.exponential.{name}.log_likelihood", exponential, "nats")
    yield Row(f"peer.weibull.{name}.log_likelihood", weibull, "nats")


def _calibration(name: str, within: list[bool]) -> Row:
    share = float(np.mean(within))
    bar = f"{LEVEL:.0%} range, >= 0.9"
    return Row(f"{name}.revoked_by_age_in_binomial_range", share, "share", bar, share >= 0.9)


def _inside(seen: Observed, share: FloatArray) -> list[bool]:
    low, high = binom.interval(LEVEL, int(seen.n), share)
    count = _revoked(seen)
    return list(((count >= low) & (count <= high)).tolist())


def _revoked(seen: Observed) -> FloatArray:
    """Machines revoked by each age."""
    return np.array([seen.machines[seen.to_s <= age * HOUR_S].sum() for age in AGES_H])


def _split(seen: Observed, test: np.ndarray) -> tuple[Observed, Observed]:
    """Split machines into training and test."""
    row = np.repeat(np.arange(len(seen.machines)), seen.machines.astype(int))
    counts = [np.bincount(row[mask], minlength=len(seen.machines)) for mask in (~test, test)]
    train, held = (Observed(seen.from_s, seen.to_s, count.astype(float)) for count in counts)
    return train, held
