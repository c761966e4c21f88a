"""Offers with what a plan needs of them: family, start-up time, storage price."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd

from advisor.core.units import HOUR_S
from advisor.search.facts import offer_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog

    LookUp = Callable[..., float | None]

COLUMNS = ("cloud", "instance_type", "region", "area", "market", "accelerator", "accelerators",
           "usd_per_h", "rankable", "available")  # fmt: skip


@lru_cache(maxsize=2)
def offer_columns(catalog: Catalog) -> pd.DataFrame:
    """Return one row per offer of the catalog, in its order; shared, not to be changed in place.

    Returns
    -------
    DataFrame
        `COLUMNS`, ``family``, ``startup_s`` and ``startup_p90_s`` (median and 90th percentile
        of one machine [s]), ``increment_s`` and ``minimum_s`` of what is billed [s],
        ``storage_usd_per_gb_month`` and ``write_usd`` (NaN unknown), and those of
        `advisor.search.facts.offer_facts`.
    """
    offers = catalog.offers[list(COLUMNS)].copy()
    family = catalog.accelerators["family"]
    offers["family"] = offers["accelerator"].map(family).astype("category")
    kind = ["cloud", "instance_type", "accelerator"]
    offers["startup_s"] = looked_up(offers, kind, lambda *names: catalog.startup_s(*names)[0])
    offers["startup_p90_s"] = looked_up(offers, kind, lambda *names: catalog.startup_s(*names)[1])
    place, machine = ["cloud", "region"], ["cloud", "instance_type"]
    offers["storage_usd_per_gb_month"] = looked_up(offers, place, catalog.storage_usd_per_gb_month)
    rules = {name: at for at, name in enumerate(("increment_s", "minimum_s"))}
    for name, at in rules.items():
        offers[name] = looked_up(offers, machine, _part_of(catalog.billing_s, at))
    offers["write_usd"] = looked_up(offers, ["cloud"], catalog.write_usd)
    facts = offer_facts(catalog)
    for name in rules:  # all of a capacity block is paid
        offers[name] = (facts["block_h"] * HOUR_S).fillna(offers[name])
    return pd.concat([offers, facts], axis=1)


def _part_of(look_up: Callable[..., tuple[float, ...] | None], at: int) -> LookUp:
    def part(*key: str) -> float | None:
        found = look_up(*key)
        return None if found is None else found[at]

    return part


def looked_up(offers: pd.DataFrame, keys: list[str], look_up: LookUp) -> pd.Series[float]:
    """Return a number of every offer that only some of its columns tell; NaN for None."""
    distinct = offers[keys].astype(str).drop_duplicates()
    values = [look_up(*row) for row in distinct.itertuples(index=False)]
    table = distinct.assign(value=pd.array(values, dtype="Float64"))
    merged = offers[keys].astype(str).merge(table, how="left", on=keys)["value"]
    return pd.Series(merged.to_numpy(float, na_value=float("nan")), index=offers.index)
