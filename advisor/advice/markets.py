"""The same machines in every market: what on demand, spot and reserved make of one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SAME: Final = ("cloud", "instance_type", "region", "machines")


def market_rows(plans: pd.DataFrame, row: int) -> np.ndarray:
    """Return the rows of the same machines in the same place, cheapest first.

    Prices that cannot be trusted are left out, except that of `row` itself.

    Parameters
    ----------
    plans : DataFrame
        The table of an evaluated job.
    row : int
        Position of the plan in question; its own row is among the result.
    """
    same = plans["rankable"].to_numpy(bool, copy=True)
    same[row] = True
    for name in SAME:
        same &= (plans[name] == plans[name].iloc[row]).to_numpy()
    rows = np.flatnonzero(same)
    return rows[np.argsort(plans["cost_usd"].to_numpy()[rows], kind="stable")]
