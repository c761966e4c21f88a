"""Where and when machines were revoked, as tables of what was counted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from advisor.transient.tables import table

if TYPE_CHECKING:
    from advisor.catalog import Catalog


@cache
def revoked_by_age() -> pd.DataFrame:
    """Return how many machines were revoked in every hour of their age.

    Returns
    -------
    DataFrame
        gpu, region, year, hour (of age, from 0), alive (machines at its start), revoked, share
        (of the alive ones).
    """
    frame = table("revocations").rename(columns={"age_from_h": "hour"})
    gone = frame.groupby(["gpu", "region"])["revoked"].cumsum() - frame["revoked"]
    alive = frame["machines"] - gone
    share = frame["revoked"] / alive.where(alive > 0)
    kept = frame[["gpu", "region", "year", "hour", "revoked", "machines"]]
    return kept.assign(alive=alive, share=share)


@cache
def revoked_by_hour_of_day() -> pd.DataFrame:
    """Return how many machines were revoked in every hour of the day, by GPU.

    By region it was not told, nor the time zone, nor how many ran at each hour: counts, no rates.

    Returns
    -------
    DataFrame
        gpu, hour, revoked, year, machines (watched in all).
    """
    hours = table("revocation_hours").rename(columns={"revocations": "revoked"})
    watched = table("revocations").drop_duplicates(["gpu", "region"])
    machines = watched.groupby("gpu")["machines"].sum()
    year = int(table("revocations")["year"].iloc[0])
    return hours[["gpu", "hour", "revoked"]].assign(machines=hours["gpu"].map(machines), year=year)


def published_bands(catalog: Catalog) -> pd.DataFrame:
    """Return the published bounds of monthly interruptions, by accelerator and region.

    Returns
    -------
    DataFrame
        cloud, region, accelerator, low, high (shares; the widest over its types), types (how
        many are published). No hours are.
    """
    bands = catalog.tables.interruption
    kinds = catalog.machines[["cloud", "instance_type", "accelerator"]].astype(str)
    joined = bands.astype({"cloud": str, "instance_type": str, "region": str}).merge(
        kinds.drop_duplicates(), on=["cloud", "instance_type"]
    )
    grouped = joined.groupby(["cloud", "region", "accelerator"], observed=True)
    found = grouped.agg(low=("low", "min"), high=("high", "max"), types=("low", "size"))
    return found.reset_index()
