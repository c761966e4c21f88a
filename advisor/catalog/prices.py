"""Machines and prices side by side, as people compare them: one row per price."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.units import GB, GBIT_PER_S, TFLOPS

if TYPE_CHECKING:
    from collections.abc import Collection

    from advisor.catalog.catalog import Catalog

PFLOPS: Final = 1e15
FLAG_WORDS: Final = {
    "stale": "old",
    "derived_spot": "computed from an average saving",
    "spot_not_below_on_demand": "spot saves nothing",
    "implausible": "far from other prices, not recommended",
    "reservation_only": "not sold on demand",
    "duplicate": "sources disagree, the dearer counts",
}
KIND: Final = ["cloud", "instance_type", "market"]


def price_table(catalog: Catalog, today: dt.date) -> pd.DataFrame:
    """Return every price with its machine, cheapest per accelerator first.

    Returns
    -------
    DataFrame
        cloud, instance_type, region, area, market, accelerator, family, accelerators,
        accelerator_memory_gb, peak_bf16_tflops (one accelerator, dense), vcpus, memory_gb,
        network_gbit_per_s, usd_per_h, usd_per_accelerator_h, usd_per_pflop_h (of all its
        accelerators' bf16 peak), list_usd_per_h, discount_percent, available, age_days, trust
        (flags in words, and what the user's lists say), rankable, source, and ``words``, what a
        search looks through. Unknown numbers are NaN.
    """
    offers = catalog.offers.drop(columns=["accelerator", "accelerators"])
    place = ["cloud", "instance_type"]
    machines = catalog.machines.drop(columns=["source", "link_measured"])
    table = offers.astype(dict.fromkeys(place, object)).merge(machines, on=place, how="left")
    facts = catalog.accelerators.reindex(table["accelerator"])
    table["family"] = facts["family"].to_numpy()
    peak = facts["peak_bf16_flops"].to_numpy()
    devices = table["accelerators"]
    table["accelerator_memory_gb"] = table.pop("accelerator_memory_bytes") / GB
    table["peak_bf16_tflops"] = peak / TFLOPS
    table["memory_gb"] = table.pop("memory_bytes") / GB
    table["network_gbit_per_s"] = table.pop("network_bytes_per_s") / GBIT_PER_S
    table["usd_per_accelerator_h"] = table["usd_per_h"] / devices
    table["usd_per_pflop_h"] = table["usd_per_h"] / (devices * peak / PFLOPS)
    table["age_days"] = (pd.Timestamp(today) - table["as_of"]).dt.days.astype(float)
    table["trust"] = _trust(table)
    words = table["cloud"].astype(str)
    for name in ("instance_type", "region", "accelerator", "family"):
        words = words + " " + table[name].astype(str)
    table["words"] = words.str.casefold()
    return table.sort_values(["usd_per_accelerator_h", *place], ignore_index=True)


def cheapest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cheapest price of every machine and market; those to be trusted come first.

    ``regions`` counts where the machine is sold in that market.
    """
    regions = table.groupby(KIND, sort=False, observed=True)["region"].transform("nunique")
    ranked = table.assign(regions=regions).sort_values(
        ["rankable", "usd_per_h"], ascending=[False, True], kind="stable"
    )
    return ranked.drop_duplicates(KIND).sort_index()


def matching(
    table: pd.DataFrame,
    search: str = "",
    *,
    clouds: Collection[str] = (),
    accelerators: Collection[str] = (),
    markets: Collection[str] = (),
    areas: Collection[str] = (),
) -> pd.DataFrame:
    """Return the rows that have all words of a search and one of each choice; none is any."""
    left = pd.Series(data=True, index=table.index)
    for word in search.casefold().split():
        left &= table["words"].str.contains(word, regex=False)
    for chosen, column in (
        (clouds, "cloud"),
        (accelerators, "accelerator"),
        (markets, "market"),
        (areas, "area"),
    ):
        if chosen:
            left &= table[column].isin(chosen)
    return table[left]


def _trust(table: pd.DataFrame) -> np.ndarray:
    """Return the flags in words; few combinations are distinct, so few texts are built."""
    available = table["available"].fillna(0.0).astype(str)  # none is said where all can be had
    joined = table["flags"].astype(str) + "|" + table["discount_percent"].astype(str)
    joined = joined + "|" + available
    codes, distinct = pd.factorize(joined)
    texts = []
    for kind in distinct:
        flags, discount, number = str(kind).split("|")
        texts.append(_words(flags, float(discount), float(number)))
    return np.array(texts, dtype=object)[codes]


def _words(flags: str, discount_percent: float, available: float) -> str:
    words = [FLAG_WORDS[flag] for flag in flags.split(",") if flag]
    if discount_percent:
        words.append(f"your discount {discount_percent:g} %")
    if available:
        words.append(f"{available:,.0f} available")
    return ", ".join(words)
