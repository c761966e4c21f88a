"""How long a cluster takes to start: as long as its slowest machine."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri

from advisor.predictor.arrays import FloatArray

P90: Final = float(ndtri(0.9))


class Startup(NamedTuple):
    """Start of clusters: median [s] and standard deviation of its logarithm, one row each."""

    median_s: FloatArray
    log_sigma: FloatArray


def cluster_startup(median_s: FloatArray, p90_s: FloatArray, machines: FloatArray) -> Startup:
    """Return how long clusters take to start.

    Parameters
    ----------
    median_s, p90_s : array of shape (n,)
        Median and 90th percentile of the start of one machine [s].
    machines : array of shape (n,)
        Machines that start together, each on its own.

    Notes
    -----
    The start of one machine is taken as log-normal through both measured quantiles, but nothing
    is read off beyond the upper one: a few starts say nothing of one in a hundred. The slowest of
    n is below its quantile q where all are, each with chance q to the power 1/n; the deviation is
    the one that puts the 95th percentile where it is.

    >>> start = cluster_startup(np.full(3, 50.0), np.full(3, 100.0), np.array([1.0, 2.0, 64.0]))
    >>> start.median_s.round().tolist()
    [50.0, 67.0, 100.0]
    """
    spread = np.log(p90_s / median_s) / P90

    def quantile(level: float) -> FloatArray:
        return np.asarray(
            median_s * np.exp(spread * np.minimum(ndtri(level ** (1 / machines)), P90))
        )

    median = quantile(0.5)
    return Startup(median, np.log(quantile(0.95) / median) / float(ndtri(0.95)))
