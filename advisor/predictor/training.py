"""The training table: measured runs that the physics can describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.compute import training_flops
from advisor.predictor.hardware import facts_of
from advisor.predictor.jobs import Jobs
from advisor.predictor.runs import resolve_runs

if TYPE_CHECKING:
    import pandas as pd

    from advisor.catalog import Catalog

# A run outside these shares of the peak is a slip of the source (wrong batch, wrong count).
LEAST_UTILISATION: Final = 5e-5
MOST_UTILISATION: Final = 1.6
CONFIG_COLUMNS: Final = ("source", "model", "accelerator", "accelerators", "precision")


@dataclass(frozen=True, slots=True)
class TrainingTable:
    """Jobs with their measured steps [s], and the rows of the profiles they came from."""

    jobs: Jobs
    step_s: FloatArray
    config: np.ndarray
    source: np.ndarray
    rows: np.ndarray

    def take(self, rows: np.ndarray) -> TrainingTable:
        """Return the given rows."""
        return TrainingTable(
            jobs=self.jobs.take(rows),
            step_s=self.step_s[rows],
            config=self.config[rows],
            source=self.source[rows],
            rows=self.rows[rows],
        )


def training_table(
    profiles: pd.DataFrame, catalog: Catalog, *, plausible_only: bool = True
) -> TrainingTable:
    """Return the usable runs of a frame with the store's columns.

    Runs whose speed is not possible are left out, unless they are to be predicted all the same.
    """
    runs = resolve_runs(profiles, facts_of(catalog, profiles["accelerator"]))
    step = profiles["step_time_s"].to_numpy(float)
    plausible = plausible_runs(runs, step, profiles["accelerators"].to_numpy(float))
    plausible |= not plausible_only
    usable = (runs["reason"] == "").to_numpy() & (step > 0) & plausible
    rows = np.flatnonzero(usable)
    labels = profiles.iloc[rows][list(CONFIG_COLUMNS)].astype(str).agg("|".join, axis=1)
    # Rounds of one benchmark are one source: the same networks, rules and submitters.
    source = profiles["source"].iloc[rows].str.replace(r"-v[\d.]+$", "", regex=True)
    return TrainingTable(
        jobs=Jobs.from_frame(runs.iloc[rows]),
        step_s=step[rows],
        config=labels.to_numpy(str),
        source=source.to_numpy(str),
        rows=rows,
    )


def plausible_runs(runs: pd.DataFrame, step_s: FloatArray, devices: FloatArray) -> np.ndarray:
    """Return which runs use a share of the peak that is possible.

    Parameters
    ----------
    runs : DataFrame
        Columns of `advisor.predictor.runs.resolve_runs`.
    step_s, devices : array of shape (n,)
        Measured steps [s] and accelerators.
    """
    names = ("forward_flops_per_sample", "backward_ratio", "global_batch", "peak_flops")
    forward, backward, batch, peak = (runs[name].to_numpy(float) for name in names)
    with np.errstate(all="ignore"):  # what is zero, missing or absurd is not plausible
        share = training_flops(forward, backward, 0.0) * batch / (step_s * devices * peak)
    return np.asarray((share > LEAST_UTILISATION) & (share < MOST_UTILISATION))
