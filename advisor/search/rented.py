"""Rented time: what a cloud bills of the time that machines run."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray, Floats

# Of an increment: what lies this little above a whole one is a rounding error of the hours.
SLACK: Final = 1e-6


def billed_hours(
    hours: Floats, leases: Floats, increment_s: Floats, minimum_s: Floats
) -> FloatArray:
    """Return what is billed of some leases of one machine that are equally long together.

    Parameters
    ----------
    hours : array or float
        Time the machine runs, over all its leases [h].
    leases : array or float
        How often one was started for it: 1, and once more for each that was taken away; an
        expectation need not be whole.
    increment_s, minimum_s : array or float
        A lease is billed in whole increments, and at least the minimum [s]; NaN where the rule of
        a cloud is not known: then just the time.

    Examples
    --------
    >>> billed_hours(0.01, 1.0, 1.0, 60.0).round(4).tolist()  # 36 s are billed as 60 s
    0.0167
    >>> billed_hours(1.5, 2.0, 3600.0, 3600.0).tolist()  # two of 45 min, by the hour
    2.0
    """
    each_s = np.asarray(hours) * HOUR_S / leases
    whole_s = np.ceil(each_s / increment_s - SLACK) * increment_s
    billed = leases * np.maximum(whole_s, minimum_s) / HOUR_S
    return np.asarray(np.where(np.isnan(billed), hours, np.maximum(billed, hours)))
