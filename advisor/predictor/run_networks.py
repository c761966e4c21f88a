"""The network between machines, as the sources of measured runs describe it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.core.units import GBIT_PER_S
from advisor.predictor.arrays import FloatArray
from advisor.predictor.hardware import usual_network

if TYPE_CHECKING:
    import pandas as pd

INSIDE: Final = re.compile(r"nvlink|nvswitch|xgmi|pcie|ipulink|hccs")
NOT_FOR_TRAINING: Final = re.compile(r"storage|management")
BETWEEN_NETWORKS: Final = re.compile(r",| and | \+ ")
COUNT: Final = re.compile(r"(?<![\w.-])(\d+)\s*x")
SPEED: Final = re.compile(r"(\d+)\s*g(?:b(?:e|it|ps)?)?(?:\s*/\s*s(?:ec)?)?\b")
# One InfiniBand port by generation, where the speed is not written out [Gbit/s].
GENERATIONS: Final = {"edr": 100.0, "hdr": 200.0, "ndr": 400.0, "xdr": 800.0}
PLAUSIBLE_GBIT_PER_S: Final = (5.0, 6400.0)


def network_bytes_per_s(interconnect: pd.Series, year: FloatArray) -> FloatArray:
    """Return bandwidth between machines, as stated or by the year of the hardware [bytes/s]."""
    found = {text: stated_gbit_per_s(text) for text in interconnect.unique()}
    stated = interconnect.map(found).to_numpy(float)
    return np.where(np.isnan(stated), usual_network(year), stated * GBIT_PER_S)


def stated_gbit_per_s(text: str) -> float:
    """Return the fastest network that `text` names for training, NaN where it names none.

    Sources write the links of one machine before a semicolon and those between machines after
    it, several with commas; networks for storage and management say so.

    Examples
    --------
    >>> stated_gbit_per_s("NVLink 600GB/s; Management: 1x Ethernet 100Gb/s, 8x HDR 200Gb/Sec")
    1600.0
    >>> stated_gbit_per_s("NVLink; NVSwitch")
    nan
    """
    before, semicolon, after = text.lower().partition(";")
    parts = [after] if semicolon else []
    if not INSIDE.search(before):
        parts.append(before)
    for part in parts:
        speeds = [_speed(item) for item in BETWEEN_NETWORKS.split(part)]
        known = [speed for speed in speeds if not math.isnan(speed)]
        if known:
            return max(known)
    return math.nan


def _speed(item: str) -> float:
    """Return ports × speed of one network [Gbit/s]."""
    serves_others = NOT_FOR_TRAINING.search(item) and "compute" not in item
    if INSIDE.search(item) or serves_others:
        return math.nan
    stated = [float(speed) for speed in SPEED.findall(item)]
    stated += [speed for name, speed in GENERATIONS.items() if name in item and not stated]
    count = COUNT.search(item)
    total = max(stated, default=math.nan) * (float(count[1]) if count else 1.0)
    low, high = PLAUSIBLE_GBIT_PER_S
    return total if low <= total <= high else math.nan
