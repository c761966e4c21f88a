"""What limits ask of an offer beside its price: country, device memory, vCPUs, confidentiality."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        of one accelerator, ``vcpus`` of a machine (NaN unknown) and ``confidential`` (a source
        says that its accelerators can be used in a confidential machine).
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
        },
        index=catalog.offers.index,
    )
