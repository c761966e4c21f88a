"""What limits ask of an offer beside its price: country, device memory, vCPUs, confidentiality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from advisor.catalog.places import countries_by_region
from advisor.core.units import GB

if TYPE_CHECKING:
    from advisor.catalog import Catalog


def offer_facts(catalog: Catalog) -> pd.DataFrame:
    """Return one row per offer of the catalog, in its order.

    Returns
    -------
    DataFrame
        ``country`` (code, NaN where no source says where the region lies), ``device_memory_gb``
        of one accelerator, ``vcpus`` of a machine (NaN unknown), ``confidential`` (a source
        says that its accelerators can be used in a confidential machine), ``block_h`` (fixed
        length of a capacity block [h], else NaN) and ``carbon_kg_per_h`` of one machine [kg CO2e
        per hour], its accelerators at their thermal design power in the user's table of grids;
        NaN where the user gave none.
    """
    offers = catalog.offers[["cloud", "instance_type", "region"]].astype(str)
    countries = countries_by_region(catalog)
    place = zip(offers["cloud"], offers["region"], strict=True)
    machine = list(zip(offers["cloud"], offers["instance_type"], strict=True))
    machines = catalog.machines.set_index(["cloud", "instance_type"])
    described = machines[["accelerator_memory_bytes", "vcpus"]].reindex(machine)
    frame = catalog.tables.confidential
    listed = set(zip(frame["cloud"], frame["instance_type"], strict=True)) if len(frame) else set()
    return pd.DataFrame(
        {
            "country": pd.Categorical([countries.get(where) for where in place]),
            "device_memory_gb": described["accelerator_memory_bytes"].to_numpy(float) / GB,
            "vcpus": described["vcpus"].to_numpy(float),
            "confidential": [name in listed for name in machine],
            "block_h": catalog.offers["block_h"].to_numpy(float),
            "carbon_kg_per_h": _carbon_kg_per_h(catalog),
        },
        index=catalog.offers.index,
    )


def carbon_kg(plans: pd.DataFrame) -> np.ndarray:
    """Return what plans emit [kg CO2e]: their machines as long as the job takes; NaN unknown."""
    rate = plans["machines"] * plans["carbon_kg_per_h"]
    return (rate * plans["hours"]).to_numpy(float)


def _carbon_kg_per_h(catalog: Catalog) -> np.ndarray:
    offers, grids = catalog.offers, catalog.tables.carbon
    if not len(grids):
        return np.full(len(offers), np.nan)
    place = pd.MultiIndex.from_frame(offers[["cloud", "region"]].astype(str))
    factor = grids["g_per_kwh"].astype(float) / 1e3 * grids["pue"].astype(float).fillna(1.0)
    kg_per_kwh = pd.Series(
        factor.to_numpy(), index=pd.MultiIndex.from_frame(grids[["cloud", "region"]].astype(str))
    )
    tdp_w = catalog.accelerators["tdp_w"].reindex(offers["accelerator"].astype(str)).to_numpy(float)
    kw = offers["accelerators"].to_numpy(float) * tdp_w / 1e3
    return np.asarray(kw * kg_per_kwh.reindex(place).to_numpy(float))
