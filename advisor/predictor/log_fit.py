"""Constants of a formula from measured times: relative errors, a prior from the data sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import least_squares

from advisor.predictor.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_EVALUATIONS: Final = 40
# No data move a constant further than so many times the spread of its prior.
FURTHEST: Final = 6.0


def fit_constants(
    log_residual: Callable[[Mapping[str, float]], FloatArray],
    expected: Mapping[str, tuple[float, float]],
) -> dict[str, float]:
    """Fit positive constants: the most probable ones, outliers counting less.

    The logarithm of a constant is Gaussian around that of its expected value. Residuals beyond
    one are weighed down by the soft L1 loss, so a series that was disturbed moves little.

    Source: Gelman et al., 2013, Bayesian Data Analysis, section 14.8 (a prior as further data);
    Triggs et al., 2000, doi:10.1007/3-540-44480-7_21 (robust losses).

    Parameters
    ----------
    log_residual : callable
        Takes the constants; returns log(measured ÷ predicted) over its expected spread.
    expected : mapping
        Per constant, its expected value and the spread of its logarithm.

    Examples
    --------
    >>> found = fit_constants(lambda c: np.log(np.full(50, 3.0) / c["a"]) / 0.1, {"a": (1.0, 1.0)})
    >>> round(found["a"], 2)
    3.0
    """
    names = list(expected)
    prior = np.log([expected[name][0] for name in names])
    spread = np.array([expected[name][1] for name in names])

    def named(logs: FloatArray) -> dict[str, float]:
        return dict(zip(names, np.exp(logs).tolist(), strict=True))

    def misfit(logs: FloatArray) -> FloatArray:
        return np.concatenate([log_residual(named(logs)), (logs - prior) / spread])

    bounds = (prior - FURTHEST * spread, prior + FURTHEST * spread)
    found = least_squares(misfit, prior, bounds=bounds, loss="soft_l1", max_nfev=MOST_EVALUATIONS)
    return named(found.x)
