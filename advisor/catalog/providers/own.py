"""The user's own machines and terms, from the lists of the data directory."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from advisor.catalog.own import files
from advisor.catalog.own.known import known
from advisor.catalog.own.links import link_of
from advisor.catalog.own.parse import parse
from advisor.catalog.own.tables import CREDITS, DISCOUNTS, MACHINES, TABLES
from advisor.catalog.own.terms import CARBON, COMMITMENTS, RATES
from advisor.catalog.provider import PROVIDERS
from advisor.catalog.tables import CatalogTables
from advisor.core.errors import CatalogError, InvalidInputError
from advisor.core.units import GB, GBIT_PER_S
from advisor.domain.hardware import OWN_CLOUD

if TYPE_CHECKING:
    from advisor.catalog.own.table import OwnTable, Row

SOURCE = "your own list"
USUAL_REGION = "on-premises"


@PROVIDERS.register("own")
class OwnProvider:
    """Reads the lists of `advisor.catalog.own.TABLES`.

    Files that are absent give empty tables. One bad cell is an error: half a list would move
    advice without a word.
    """

    name = "own"

    def stamp(self) -> str:
        """Change with the files."""
        return files.stamp()

    def fetch(self) -> CatalogTables:
        """Read and check the lists, and convert to SI."""
        content = {name: files.content_of(table) for name, table in TABLES.items()}
        rows = {name: _rows(table, content[name]) for name, table in TABLES.items()}
        machines = _frame(MACHINES, rows["machines"])
        commitments = _frame(COMMITMENTS, rows["commitments"])
        written = _file_date()
        dated = "" if content["machines"] is None and not len(commitments) else str(written)
        text = "\0".join(f"{name}={content[name]!r}" for name in TABLES) + dated
        return CatalogTables(
            accelerators=known().accelerators.loc[machines["accelerator"].unique()],
            machines=_machines(machines),
            offers=_all_offers(machines, written, commitments),
            hash=hashlib.sha256(text.encode()).hexdigest()[:16],
            aliases=pd.DataFrame(columns=["alias", "name"]),
            discounts=_frame(DISCOUNTS, rows["discounts"]),
            credits=_frame(CREDITS, rows["credits"]),
            rates=_frame(RATES, rows["rates"]),
            carbon=_frame(CARBON, rows["carbon"]),
        )


def tables_of(rows: list[Row]) -> CatalogTables:
    """Return machines that a question names, as tables to lay over others."""
    machines = _frame(MACHINES, rows)
    return CatalogTables(
        accelerators=known().accelerators.loc[machines["accelerator"].unique()],
        machines=_machines(machines),
        offers=_offers(machines, dt.datetime.now(tz=dt.UTC).date()),
        hash=hashlib.sha256(repr(rows).encode()).hexdigest()[:16],
        aliases=pd.DataFrame(columns=["alias", "name"]),
    )


def _rows(table: OwnTable, content: bytes | None) -> list[Row]:
    if content is None:
        return []
    try:
        return list(parse(content, table, known()).checked(table.file))
    except InvalidInputError as error:
        raise CatalogError(error.what, where=error.where, todo=error.todo) from None


def _frame(table: OwnTable, rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(table.header), dtype=object)  # None stays None


def _file_date() -> dt.date:
    """Return the day on which the list of machines was last written, today where there is none.

    It can be taken away between two looks at it.
    """
    try:
        written = files.path_of(MACHINES).stat().st_mtime
    except OSError:
        return dt.datetime.now(tz=dt.UTC).date()
    return dt.datetime.fromtimestamp(written, tz=dt.UTC).date()


def _machines(rows: pd.DataFrame) -> pd.DataFrame:
    facts = known().accelerators
    links = [
        link_of(facts, name, wanted or "")
        for name, wanted in zip(rows["accelerator"], rows["link"], strict=True)
    ]
    accelerator = rows["accelerator"].astype(str)
    return pd.DataFrame(
        {
            "cloud": OWN_CLOUD,
            "instance_type": rows["name"].astype(str),
            "accelerator": accelerator,
            "accelerators": rows["accelerators"].astype(float),
            "accelerator_memory_bytes": facts["memory_bytes"].reindex(accelerator).to_numpy(float),
            "vcpus": rows["vcpus"].astype(float),
            "memory_bytes": rows["memory_gb"].astype(float) * GB,
            "link": np.array([link for link, _ in links], dtype=object),
            "link_bytes_per_s": np.array([speed for _, speed in links], dtype=float),
            "link_measured": False,
            "network_bytes_per_s": rows["network_gbit_per_s"].astype(float) * GBIT_PER_S,
            "fabric": "",
            "source": SOURCE,
        }
    ).astype({"source": "category"})


def _all_offers(
    machines: pd.DataFrame, written: dt.date, commitments: pd.DataFrame
) -> pd.DataFrame:
    offers = _offers(machines, written)
    if not len(commitments):
        return offers
    names = ["cloud", "instance_type", "region", "market", "source"]
    bound = pd.DataFrame(
        {
            **{name: commitments[name].astype(str) for name in names[:3]},
            "market": commitments["kind"].astype(str),
            "usd_per_h": commitments["usd_per_h"].astype(float),
            "derived": False,
            "as_of": pd.to_datetime(commitments["as_of"].fillna(written)).astype("datetime64[s]"),
            "source": SOURCE,
            "available": commitments["available"].astype(float),
            "block_h": commitments["block_h"].astype(float),
        }
    )
    if not len(offers):
        return bound.astype(dict.fromkeys(names, "category"))
    both = pd.concat([offers.astype(dict.fromkeys(names, object)), bound], ignore_index=True)
    return both.astype(dict.fromkeys(names, "category"))


def _offers(rows: pd.DataFrame, written: dt.date) -> pd.DataFrame:
    as_of = rows["as_of"].fillna(written) if len(rows) else rows["as_of"]
    return pd.DataFrame(
        {
            "cloud": OWN_CLOUD,
            "instance_type": rows["name"].astype(str),
            "region": rows["region"].fillna(USUAL_REGION).astype(str),
            "market": "on_demand",
            "usd_per_h": rows["usd_per_h"].astype(float),
            "derived": False,
            "as_of": pd.to_datetime(as_of).astype("datetime64[s]"),
            "source": SOURCE,
            "available": rows["available"].astype(float),
        }
    ).astype(dict.fromkeys(["cloud", "instance_type", "region", "market", "source"], "category"))
