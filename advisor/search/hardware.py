"""Machine shapes of the catalog as columns, physically identical ones once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from advisor.domain import Precision
from advisor.predictor.hardware import FUSED_ATTENTION_SINCE, NEWEST_STACK_YEAR, best_peak
from advisor.search.wide import HARDWARE

if TYPE_CHECKING:
    from advisor.catalog import Catalog


def hardware_table(catalog: Catalog, precision: Precision) -> tuple[pd.DataFrame, np.ndarray]:
    """Return physically distinct machine shapes, and the shape of every offer.

    Shares of an accelerator are left out, training on a slice is not described by the physics;
    and accelerators whose peak is not published.

    Returns
    -------
    shapes : DataFrame
        Columns `advisor.search.wide.HARDWARE` and ``multi_node``.
    shape_of_offer : array of int
        Row of `shapes` for every row of ``catalog.offers``, -1 where there is none.
    """
    columns = machine_columns(catalog, catalog.machines, precision)
    shapes = columns[predictable(columns)].drop_duplicates(ignore_index=True)
    numbered = shapes.reset_index(names="shape")
    shape_of_machine = columns.merge(numbered, how="left", on=list(columns.columns))["shape"]
    machine = pd.MultiIndex.from_frame(catalog.machines[["cloud", "instance_type"]])
    offers = catalog.offers[["cloud", "instance_type"]].astype(str)
    position = machine.get_indexer(pd.MultiIndex.from_frame(offers))
    shape = shape_of_machine.fillna(-1).to_numpy(int)
    return shapes, np.where(position >= 0, shape[position], -1)


def predictable(columns: pd.DataFrame) -> np.ndarray:
    """Return the mask of `machine_columns` that the physics can describe."""
    whole = columns["devices_per_node"].to_numpy() >= 1
    return np.asarray(whole & columns[list(HARDWARE)].notna().all(axis=1).to_numpy())


def machine_columns(catalog: Catalog, machines: pd.DataFrame, precision: Precision) -> pd.DataFrame:
    """Return the hardware columns of machines, one row each."""
    facts = catalog.accelerators.reindex(machines["accelerator"]).reset_index(drop=True)
    network = machines["network_bytes_per_s"].to_numpy(float)
    link = machines["link_bytes_per_s"].to_numpy(float)
    year = facts["year"].to_numpy(float)
    columns = pd.DataFrame(
        {
            "peak_flops": best_peak(facts, precision),
            "memory_bytes": machines["accelerator_memory_bytes"].to_numpy(float),
            "memory_bytes_per_s": facts["memory_bytes_per_s"].to_numpy(float),
            "link_bytes_per_s": link,
            # Machines without a known network are tried alone; the value is then not used.
            "network_bytes_per_s": np.where(np.isnan(network), link, network),
            "devices_per_node": np.floor(machines["accelerators"].to_numpy(float)),
            "hardware_year": year,
            "fused_attention": (year >= FUSED_ATTENTION_SINCE).astype(float),
            "year": np.maximum(year + 1, NEWEST_STACK_YEAR),
        }
    )[list(HARDWARE)]
    return columns.assign(multi_node=~np.isnan(network))
