"""The finish time of spot plans as a mixture of two log-normal laws.

Runs that are never interrupted follow the first, all others the second; each has the first two
moments that the renewal equations give, over the nodes of an uncertain hazard and uncertain work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr

from advisor.predictor.arrays import FloatArray, Floats
from advisor.transient.renewal import RestartMoments

if TYPE_CHECKING:
    import pandas as pd

# Gauss–Hermite: exact for polynomials up to the fifth degree in a normal variable.
NODES: Final = np.array([-math.sqrt(3), 0.0, math.sqrt(3)])
WEIGHTS: Final = np.array([1 / 6, 2 / 3, 1 / 6])
BISECTIONS: Final = 24
# Of the logarithm of the finish time [s]: runs never interrupted, and all others.
LOCATIONS: Final = ("quiet_location", "struck_location")
SPREADS: Final = ("quiet_spread", "struck_spread")
LAW: Final = ("mean_s", "revocations", "untouched", *LOCATIONS, *SPREADS)


@dataclass(frozen=True)
class FinishLaw:
    """Mixture of two log-normal laws, one row per plan; the first is never interrupted."""

    mean_s: FloatArray
    revocations: FloatArray
    untouched: FloatArray
    location: FloatArray
    spread: FloatArray

    @classmethod
    def of_columns(cls, columns: pd.DataFrame) -> FinishLaw:
        """Return the law of rows that hold what `columns` gives."""
        pairs = (
            np.stack([columns[name].to_numpy(float) for name in names])
            for names in (LOCATIONS, SPREADS)
        )
        mean_s, revocations, untouched = (
            columns[name].to_numpy(float) for name in ("mean_s", "revocations", "untouched")
        )
        return cls(mean_s, revocations, untouched, *pairs)

    def columns(self) -> dict[str, FloatArray]:
        """Return the law as columns of a table of plans."""
        return {
            "mean_s": self.mean_s,
            "revocations": self.revocations,
            "untouched": self.untouched,
            **dict(zip(LOCATIONS, self.location, strict=True)),
            **dict(zip(SPREADS, self.spread, strict=True)),
        }

    def share_below(self, time_s: float | FloatArray) -> FloatArray:
        """Chance to finish by a time [s]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (np.log(time_s) - self.location) / self.spread
        below = np.nan_to_num(ndtr(z))
        return np.asarray(self.untouched * below[0] + (1 - self.untouched) * below[1])

    def quantile(self, level: Floats) -> FloatArray:
        """Return the time by which a share of the runs is finished [s]."""
        far = 6 * self.spread
        low = np.nanmin(self.location - far, axis=0)
        high = np.nanmax(np.where(np.isfinite(self.location), self.location + far, np.nan), axis=0)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            below = self.share_below(np.exp(middle)) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        endless = ~np.isfinite(self.mean_s) & (self.untouched < level)
        return np.where(endless, np.inf, np.exp(high))


def finish_law(
    moments: RestartMoments,
    parts: FloatArray,
    scale: FloatArray,
    begin_s: FloatArray,
    part_s: FloatArray,
    later_s: FloatArray,
) -> FinishLaw:
    """Mix the nodes of hazard (rows of the moments) and of work (places on their grid).

    Parameters
    ----------
    moments : RestartMoments
        One row per plan and node of the hazard.
    parts : array, shape (plans,)
        Checkpoint intervals of the plan.
    scale : array, shape (plans, nodes)
        Factors on the work.
    begin_s, part_s : array, shape (plans,)
        Start and load, and one interval with its checkpoint [s].
    later_s : array, shape (plans, nodes)
        How much later than usual the first start is over [s]; it delays a run as a whole.
    """
    shape = (len(parts), len(NODES))
    total = {name: np.zeros(len(parts)) for name in ("one", "mean", "square", "count")}
    alone = {name: np.zeros(len(parts)) for name in ("one", "mean", "square")}
    for place, weight in enumerate(WEIGHTS):
        left = parts * scale[:, place]
        at = np.repeat(left, len(NODES))
        mean, square, count, untouched = (
            moments.at(values, at).reshape(shape) @ WEIGHTS
            for values in (moments.mean_s, moments.square_s2, moments.revocations,
                           moments.untouched)
        )  # fmt: skip
        late_s = later_s[:, place]
        square = square + 2 * mean * late_s + late_s**2
        mean = mean + late_s
        quick_s = begin_s + late_s + left * part_s
        for name, value in (("one", 1.0), ("mean", mean), ("square", square), ("count", count)):
            total[name] += weight * value
        for name, power in (("one", 0), ("mean", 1), ("square", 2)):
            alone[name] += weight * untouched * quick_s**power
    others = {name: total[name] - alone[name] for name in alone}
    laws = [_log_normal(**alone), _log_normal(**others)]
    location, spread = (np.stack([law[k] for law in laws]) for k in range(2))
    return FinishLaw(total["mean"], total["count"], np.clip(alone["one"], 0, 1), location, spread)


def _log_normal(
    one: FloatArray, mean: FloatArray, square: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Location and spread of the log-normal law with given weight and moments."""
    weight = np.maximum(one, 1e-12)
    average = np.maximum(mean / weight, 1e-9)
    ratio = np.maximum(square / weight / average**2, 1 + 1e-10)
    spread = np.sqrt(np.log(ratio))
    return np.log(average) - spread**2 / 2, spread
