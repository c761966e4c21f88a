"""Runs that a board asks about and that the store has, too: they must not reach its training.

The same run often appears in two tables, under another spelling of the network, another count
(machines for accelerators) or rounded. What stays is its batch and its measured step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor import zoo
from advisor.catalog.names import spelled

if TYPE_CHECKING:
    from advisor.catalog import Catalog

# Tables round to three or more digits; two runs of one job differ by more, or are as good as one.
SAME_VALUE: Final = 0.002
CLUSTER_AND_WORKLOAD: Final = ["model", "accelerator", "accelerators", "global_batch",
                               "sample_size", "precision"]  # fmt: skip


def without_board_rows(runs: pd.DataFrame, board: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return the runs that are not rows of a board.

    A run is a row's where batch and step agree and so does the network or the accelerator.

    Parameters
    ----------
    runs, board : DataFrame
        Columns of the store, of which ``model``, ``accelerator``, ``global_batch`` and
        ``step_time_s`` are read.
    """
    return runs[~is_board_row(runs, board, catalog)].reset_index(drop=True)


def is_board_row(runs: pd.DataFrame, board: pd.DataFrame, catalog: Catalog) -> np.ndarray:
    """Return which runs are rows of a board, shape (runs,)."""
    ours, theirs = _names(runs, catalog), _names(board, catalog)
    step, batch = _log(runs, "step_time_s"), _log(runs, "global_batch")
    found = np.zeros(len(runs), dtype=bool)
    rows = zip(_log(board, "step_time_s"), _log(board, "global_batch"), theirs["model"],
               theirs["accelerator"], strict=True)  # fmt: skip
    for its_step, its_batch, model, accelerator in rows:
        alike = (np.abs(step - its_step) < SAME_VALUE) & (np.abs(batch - its_batch) < SAME_VALUE)
        if alike.any():
            here = ours[alike]
            found[alike] |= (
                (here["model"] == model) | (here["accelerator"] == accelerator)
            ).to_numpy()
    return found


def one_of_each_run(runs: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return the first of every run: workload, cluster and value decide, not who tells of it."""
    keys = runs.assign(**_names(runs, catalog), log_step=_log(runs, "step_time_s"))
    ordered = keys.sort_values("log_step", kind="stable")
    same = ordered.groupby(CLUSTER_AND_WORKLOAD, dropna=False)["log_step"].diff() < SAME_VALUE
    # A chain of equal runs keeps the one that comes first in the table.
    chain = (~same).groupby([ordered[name] for name in CLUSTER_AND_WORKLOAD], dropna=False).cumsum()
    first = ordered.assign(chain=chain).sort_index()
    again = first.duplicated([*CLUSTER_AND_WORKLOAD, "chain"]) & first["log_step"].notna()
    return runs[~again.reindex(runs.index)].reset_index(drop=True)


def _names(frame: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return what networks and accelerators are called, however their source spells them."""
    models = {label: _network(label) for label in frame["model"].unique()}
    devices = {label: catalog.spellings.get(spelled(label), spelled(label))
               for label in frame["accelerator"].unique()}  # fmt: skip
    return pd.DataFrame({"model": frame["model"].map(models),
                         "accelerator": frame["accelerator"].map(devices)})  # fmt: skip


def _network(label: str) -> str:
    known = zoo.named(label)
    return known.name if known else spelled(label)


def _log(frame: pd.DataFrame, column: str) -> np.ndarray:
    values = frame[column].to_numpy(float)
    return np.log(np.where(values > 0, values, np.nan))
