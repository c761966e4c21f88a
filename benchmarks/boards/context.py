"""What all boards share: the catalog, the reference data and the training tables."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.catalog import load
from advisor.core.paths import TABLES_DIR
from advisor.predictor.jobs import Jobs
from advisor.predictor.training import TrainingTable, training_table
from benchmarks.measured_runs import read_measured_runs

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.catalog import Catalog

QUICK_SHARE: Final = 4  # a quick look trains on one network in so many


@dataclass(frozen=True)
class Shipped:
    """What the project itself has: the catalog and the measured runs; tables are read once."""

    @functools.cached_property
    def catalog(self) -> Catalog:
        """The shipped catalog."""
        return load()

    @functools.cached_property
    def shipped_runs(self) -> pd.DataFrame:
        """The permissively licensed runs that train the predictor that ships."""
        return _read_shipped_runs()

    @functools.cached_property
    def shipped(self) -> TrainingTable:
        """The training table of the shipped runs."""
        return training_table(self.shipped_runs, self.catalog)


@dataclass(frozen=True)
class Context(Shipped):
    """Sources of the boards: what the project has, and the reference data beside it.

    ``quick`` asks for a sample of runs and groups, so that all boards take three minutes.
    """

    reference: Path
    quick: bool = False

    @functools.cached_property
    def shipped_runs(self) -> pd.DataFrame:
        """The runs that ship; for a quick look those of some networks."""
        runs = _read_shipped_runs()
        if not self.quick:
            return runs
        names = np.random.default_rng(0).permutation(np.unique(runs["model"]))
        return runs[runs["model"].isin(names[::QUICK_SHARE])].reset_index(drop=True)

    @functools.cached_property
    def all_runs(self) -> pd.DataFrame:
        """Every measured run of the reference data."""
        return read_measured_runs(self.reference / "data" / "measured_runs.csv")


def _read_shipped_runs() -> pd.DataFrame:
    frame = pd.read_csv(TABLES_DIR / "profiles" / "runs.csv")
    text = ["dataset", "framework", "precision", "instance_type", "interconnect", "parallelism"]
    frame[text] = frame[text].fillna("")
    return frame


def stack(first: TrainingTable, second: TrainingTable) -> TrainingTable:
    """Return both tables, one after the other; ``rows`` lose their meaning."""
    return TrainingTable(
        jobs=Jobs.concatenate([first.jobs, second.jobs]),
        step_s=np.concatenate([first.step_s, second.step_s]),
        config=np.concatenate([first.config, second.config]),
        source=np.concatenate([first.source, second.source]),
        rows=np.concatenate([first.rows, second.rows]),
    )
