"""Measured layers of the two published plans: a table of our own with its source."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from advisor.core.units import GIB
from advisor.strategies.layer_times import LayerTimes, Line

TABLE = Path(__file__).with_name("layer_profiles.csv")
MEMORY_BYTES = {"L4": 22.5 * GIB, "RTX-A6000": 47.99 * GIB, "P40": 22.5 * GIB}


def measured(profile: str) -> dict[str, LayerTimes]:
    """Return the layer times of one network by accelerator."""
    table = pd.read_csv(TABLE)
    found = {}
    for name, rows in table[table["profile"] == profile].groupby("accelerator"):
        first = rows.iloc[0]
        points = rows.dropna(subset=["micro_batch"])
        found[str(name)] = LayerTimes(
            Line(first["forward_slope_ms"] / 1e3, first["forward_intercept_ms"] / 1e3),
            Line(first["backward_slope_ms"] / 1e3, first["backward_intercept_ms"] / 1e3),
            points["forward_ms"].to_numpy() / 1e3,
            points["backward_ms"].to_numpy() / 1e3,
        )
    return found
