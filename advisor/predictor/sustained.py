"""The arithmetic that an accelerator keeps up: less than its peak, by bandwidth and by power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.predictor.arrays import FloatArray, Floats

# The energy of an operation has a floor of its own in the newest processes that were measured.
FIRST_YEAR: Final = 2020
LAST_YEAR: Final = 2023


@dataclass(frozen=True, slots=True)
class Sustained:
    """What keeps large matrix products from the peak; scalars, or one value per device.

    Attributes
    ----------
    share : array
        Share of the peak that is left where neither memory nor power is scarce.
    ridge_bytes : array
        Bytes that a FLOP moves past the caches.
    joule_per_flop : array
        Energy of a FLOP on a device of 2020 [J].
    decline : array
        Fall of its logarithm per year.
    sharpness : array
        How sudden the limit of the power is.
    """

    share: Floats
    ridge_bytes: Floats
    joule_per_flop: Floats
    decline: Floats
    sharpness: Floats


# Fitted to transformer layers on twelve devices from P40 to H100 NVL (profiles of
# github:benson-guo/cephalo), in FP32 and on the tensor cores in FP16.
FP32: Final = Sustained(0.89, 0.0131, 11.2e-12, 0.18, 23.0)
TENSOR: Final = Sustained(0.96, 0.0006, 1.58e-12, 0.18, 23.0)


def sustained_flops(
    peak_flops: Floats,
    memory_bytes_per_s: Floats,
    power_w: Floats,
    year: Floats,
    constants: Sustained,
) -> FloatArray:
    """Rate of large matrix products [FLOP/s], ``1/R = (q^p + (e(year)/W)^p)^(1/p)``.

    With ``q = 1/(share·P) + ridge/B``: arithmetic and the traffic that caches do not hold add up,
    and the power W buys no more than W/e operations. Small boards (T4, L4) are limited by their
    power, wide ones with a narrow memory (A10G, L40S) by their bandwidth, and A100 by neither.

    Source: the roofline of Williams et al., 2009, doi:10.1145/1498765.1498785, with the power cap
    of Choi et al., 2014, doi:10.1109/IPDPS.2014.54 (their caps are sharp).

    Parameters
    ----------
    peak_flops : array
        Dense peak at the precision [FLOP/s].
    memory_bytes_per_s : array
        Memory bandwidth [bytes/s].
    power_w : array
        Power limit of the board [W]; inf where it is not known.
    year : array
        Year of the device: what a FLOP costs falls with the process.

    Examples
    --------
    An L4 has 30 TFLOP/s in FP32 and 72 W:

    >>> rate = sustained_flops(30.3e12, 300e9, 72.0, 2023, FP32)
    >>> round(float(rate) / 1e12, 1)
    11.0
    """
    years = np.clip(year, None, LAST_YEAR) - FIRST_YEAR
    arithmetic = 1 / (constants.share * peak_flops) + constants.ridge_bytes / memory_bytes_per_s
    energy = constants.joule_per_flop * np.exp(-constants.decline * years) / power_w
    slower = np.maximum(arithmetic, energy)
    p = constants.sharpness
    return np.asarray(((arithmetic / slower) ** p + (energy / slower) ** p) ** (-1 / p) / slower)
