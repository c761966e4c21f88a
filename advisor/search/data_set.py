"""The data set of a job: how large, where it lies, and what its prices are where the user knows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.core.units import GB
from advisor.search.offers import looked_up, offer_columns

if TYPE_CHECKING:
    from advisor.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """What is read from a store while a job trains.

    Attributes
    ----------
    gb : float
        Its size [GB].
    cloud, region : str
        Where it lies today; empty: where the machines are, whichever are chosen.
    transfer_usd_per_gb : float, optional
        Price to move it, and the trained weights back, between its place and that of the machines
        [USD/GB]; by default the catalog's.
    storage_usd_per_gb_month : float, optional
        Price to store it, and the checkpoints, beside the machines [USD/GB-month]; by default the
        catalog's.
    """

    gb: float = 0.0
    cloud: str = ""
    region: str = ""
    transfer_usd_per_gb: float | None = None
    storage_usd_per_gb_month: float | None = None

    def __post_init__(self) -> None:
        for name in ("gb", "transfer_usd_per_gb", "storage_usd_per_gb_month"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidInputError(
                    f"{value!r} is not possible.",
                    where=f"data set, {name.replace('_', ' ')}",
                    todo="Give 0 or more, or leave it out.",
                )
        if bool(self.cloud) != bool(self.region):
            raise InvalidInputError(
                "the place of the data set needs both a cloud and a region.",
                where="data set",
                todo="Give both, as in aws:us-east-1, or none.",
            )

    @classmethod
    def stated(
        cls,
        catalog: Catalog,
        *,
        gb: float | None = None,
        at: str = "",
        transfer_usd_per_gb: float | None = None,
        storage_usd_per_gb_month: float | None = None,
    ) -> DataSet | None:
        """Return what is stated of a data set, its place as in `at`; None where nothing is."""
        prices = (transfer_usd_per_gb, storage_usd_per_gb_month)
        if gb is None and not at and prices == (None, None):
            return None
        found = cls.at(at, catalog, gb or 0.0) if at else cls(gb=gb or 0.0)
        return replace(
            found,
            transfer_usd_per_gb=transfer_usd_per_gb,
            storage_usd_per_gb_month=storage_usd_per_gb_month,
        )

    @classmethod
    def at(cls, text: str, catalog: Catalog, gb: float) -> DataSet:
        """Return a data set at a place that is written as ``cloud:region``.

        Raises
        ------
        InvalidInputError
            If the text is not of that form.
        UnknownNameError
            If the cloud or the region is not in the catalog; offers the nearest.
        """
        cloud, colon, region = (part.strip() for part in text.partition(":"))
        if not (cloud and colon and region):
            raise InvalidInputError(
                f"“{text}” is no place.", where="data set", todo="Write it as aws:us-east-1."
            )
        known = places(catalog)
        if cloud not in known:
            raise UnknownNameError("cloud", cloud, known, where="data set")
        if region not in known[cloud]:
            raise UnknownNameError("region", region, known[cloud], where=f"data set, {cloud}")
        return cls(gb=gb, cloud=cloud, region=region)

    @property
    def data_bytes(self) -> float:
        """Its size [bytes]."""
        return self.gb * GB

    @property
    def is_there(self) -> bool:
        """Whether there are data at all, or only prices of storage and transfer."""
        return self.gb > 0 or bool(self.cloud)

    @property
    def place(self) -> str:
        """Where it lies, as it is written."""
        return f"{self.cloud}:{self.region}" if self.cloud else ""


@lru_cache(maxsize=2)
def places(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return every region of every cloud that machines or data are in."""
    egress = catalog.tables.egress
    offered = catalog.offers[["cloud", "region"]].drop_duplicates().astype(str)
    pairs = set(offered.itertuples(index=False, name=None))
    if len(egress):
        pairs |= set(zip(egress["src_cloud"], egress["src_region"], strict=True))
    found: dict[str, list[str]] = {}
    for cloud, region in sorted(pairs):
        found.setdefault(cloud, []).append(region)
    return {cloud: tuple(regions) for cloud, regions in found.items()}


@lru_cache(maxsize=8)
def transfer_prices(catalog: Catalog, data: DataSet | None) -> pd.DataFrame:
    """Return prices between the place of the data and every offer of the catalog, in its order.

    Returns
    -------
    DataFrame
        ``in_usd_per_gb`` and ``out_usd_per_gb``: to the machines and back; 0 where they are in the
        same place, or nothing is said of the data; NaN where no price is known.
    """
    offers = offer_columns(catalog)
    if data is None or not data.cloud:
        return pd.DataFrame({"in_usd_per_gb": 0.0, "out_usd_per_gb": 0.0}, index=offers.index)
    here = (data.cloud, data.region)
    given = data.transfer_usd_per_gb

    def price(start: tuple[str, str], end: tuple[str, str]) -> float | None:
        if start == end:
            return 0.0
        return catalog.egress_usd_per_gb(*start, *end) if given is None else given

    keys = ["cloud", "region"]
    return pd.DataFrame(
        {
            "in_usd_per_gb": looked_up(offers, keys, lambda *there: price(here, there)),
            "out_usd_per_gb": looked_up(offers, keys, lambda *there: price(there, here)),
        }
    )
