"""Offers with what a plan needs of them: family, start-up time, storage price."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from advisor.catalog import Catalog

COLUMNS = ("cloud", "instance_type", "region", "area", "market", "accelerator", "accelerators",
           "usd_per_h", "rankable", "available")  # fmt: skip


@lru_cache(maxsize=2)
def offer_columns(catalog: Catalog) -> pd.DataFrame:
    """Return one row per offer of the catalog, in its order; shared, not to be changed in place.

    Returns
    -------
    DataFrame
        `COLUMNS`, ``family``, ``startup_s`` and ``startup_p90_s`` (median and 90th percentile
        of one machine [s]) and ``storage_usd_per_gb_month`` (NaN unknown).
    """
    offers = catalog.offers[list(COLUMNS)].copy()
    family = catalog.accelerators["family"]
    offers["family"] = offers["accelerator"].map(family).astype("category")
    kind = ["cloud", "instance_type", "accelerator"]
    offers["startup_s"] = _looked_up(offers, kind, lambda *names: catalog.startup_s(*names)[0])
    offers["startup_p90_s"] = _looked_up(offers, kind, lambda *names: catalog.startup_s(*names)[1])
    offers["storage_usd_per_gb_month"] = _looked_up(
        offers, ["cloud", "region"], catalog.storage_usd_per_gb_month
    )
    return offers


def _looked_up(offers: pd.DataFrame, keys: list[str], look_up: object) -> pd.Series:
    distinct = offers[keys].astype(str).drop_duplicates()
    values = [look_up(*row) for row in distinct.itertuples(index=False)]  # type: ignore[operator]
    table = distinct.assign(value=pd.array(values, dtype="Float64"))
    merged = offers[keys].astype(str).merge(table, how="left", on=keys)["value"]
    return pd.Series(merged.to_numpy(float, na_value=float("nan")), index=offers.index)
