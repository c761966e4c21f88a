"""What interruptions do to the plans of a table: the hours they cost, and when plans finish.

Where nothing is known of a spot market its plans stay as if they were never interrupted: their
hours and bill are bounds from below, and the basis says so (`advisor.transient.NO_DATA`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.units import HOUR_S
from advisor.transient import spot_columns, with_bands
from advisor.transient.law import LAW, FinishLaw

if TYPE_CHECKING:
    from advisor.catalog import Catalog

NEEDED: Final = ("cloud", "region", "instance_type", "accelerator", "market", "machines",
                 "training_h", "log_sigma", "usd_per_h", "startup_log_sigma")  # fmt: skip
KEPT: Final = ("interval_h", *LAW)


def interruption_columns(
    plans: pd.DataFrame, catalog: Catalog, checkpoint_bytes: float
) -> pd.DataFrame:
    """Return what is known of the interruptions of every plan.

    Parameters
    ----------
    plans : DataFrame
        One row per plan: cloud, region, instance_type, accelerator, market, machines, training_h,
        log_sigma, usd_per_h of one machine, startup_h and startup_log_sigma.
    catalog : Catalog
        Knows the published bands.
    checkpoint_bytes : float
        Of the whole job [bytes].

    Returns
    -------
    DataFrame
        Same rows: interruption_h (expected hours that interruptions and checkpoints add: 0 for
        machines that are not taken away and for those of which nothing is known, infinite for a
        plan that never gets done), interruption_basis (empty, a source, or that there is none),
        interval_h between checkpoints, and the law of the finish, see `FinishLaw.of_columns`:
        NaN where there is none.
    """
    columns = never_interrupted(plans)
    spot = np.flatnonzero(plans["market"] == "spot")
    asked = plans.iloc[spot][list(NEEDED)].assign(
        startup_s=plans["startup_h"].iloc[spot] * HOUR_S, checkpoint_bytes=checkpoint_bytes
    )
    found = spot_columns(with_bands(asked, catalog))
    lost_h = found["lost_h"].where(np.isfinite(found["lost_h"]), np.inf)
    columns["interruption_h"][spot] = lost_h.where(found["untouched"].notna(), 0.0)
    columns["interruption_basis"][spot] = found["basis"]
    for name in KEPT:
        columns[name][spot] = found[name]
    return pd.DataFrame(columns, plans.index)


def never_interrupted(plans: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the columns of plans whose machines are not taken away."""
    return {
        "interruption_h": np.zeros(len(plans)),
        "interruption_basis": np.full(len(plans), "", object),
        **{name: np.full(len(plans), np.nan) for name in KEPT},
    }


def known_rows(plans: pd.DataFrame) -> np.ndarray:
    """Return the positions of plans whose interruptions are known."""
    return np.flatnonzero(plans["untouched"].notna().to_numpy())


def surest_known(plans: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    """Return those of `rows` whose finish is known; all of them where none is.

    Hours and bill of a plan whose interruptions nobody knows are bounds from below: set against
    expectations it would win by what is not known of it.
    """
    told = plans["untouched"].notna() | (plans["interruption_basis"] == "")
    known = told.to_numpy(bool)[rows]
    return rows[known] if known.any() else rows


def law_of(plans: pd.DataFrame, rows: np.ndarray) -> FinishLaw:
    """Return when the plans at `rows` finish, interruptions counted."""
    return FinishLaw.of_columns(plans[list(LAW)].iloc[rows])
