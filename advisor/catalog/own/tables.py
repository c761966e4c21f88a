"""The columns of the user's lists: what each means, and what a row must satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.catalog.own import cells
from advisor.catalog.own.links import link_of
from advisor.catalog.own.table import Column, OwnTable, Row, unchanged
from advisor.catalog.own.terms import CARBON, COMMITMENTS, RATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog.own.known import Known

# A machine that costs nothing counts as this, so that plans on it can be ranked.
FREE_USD_PER_H: Final = 0.01
DEAREST_USD_PER_H: Final = 2_000
MOST_GBIT_PER_S: Final = 20_000


def _fits(row: Row, known: Known) -> Row:
    """Check the link of a machine; one that is free costs next to nothing."""
    link_of(known.accelerators, str(row["accelerator"]), str(row["link"] or ""))
    return row | {"usd_per_h": max(float(str(row["usd_per_h"])), FREE_USD_PER_H)}


MACHINES: Final = OwnTable(
    name="machines",
    file="own_machines.csv",
    columns=(
        Column("name", "Name", "what you call the machine", cells.name, required=True),
        Column(
            "accelerator",
            "Accelerator",
            "as the catalog names it, or a usual alias",
            cells.accelerator,
            required=True,
        ),
        Column(
            "accelerators",
            "Per machine",
            "accelerators in one machine",
            cells.whole(128, "accelerators"),
            required=True,
        ),
        Column(
            "usd_per_h",
            "USD/h",
            "price of one machine, USD/h; of one you own: depreciation, power; 0 counts as 0.01",
            cells.number(0, DEAREST_USD_PER_H, "USD/h"),
            required=True,
        ),
        Column(
            "available",
            "Available",
            "machines that you can use at once",
            cells.whole(20_000, "machines"),
            required=True,
        ),
        Column("vcpus", "vCPUs", "virtual or physical cores", cells.whole(4_096, "cores")),
        Column("memory_gb", "Memory, GB", "main memory, GB", cells.number(1, 65_536, "GB")),
        Column(
            "link",
            "Link",
            "between the accelerators of a machine: PCIe, NVLink, …; empty: the accelerator's own",
            cells.link,
        ),
        Column(
            "network_gbit_per_s",
            "Network, Gbit/s",
            "of one machine to the others, Gbit/s; empty: one machine is used at a time",
            cells.number(1, MOST_GBIT_PER_S, "Gbit/s"),
        ),
        Column(
            "region",
            "Region",
            "place in your words; us-, eu- or asia- in front puts it on the map",
            cells.name,
        ),
        Column(
            "as_of", "As of", "day of the price, year-month-day; empty: of the file", cells.date
        ),
    ),
    key=("name",),
    example=(
        "lab-h100",
        "H100",
        "8",
        "9.50",
        "4",
        "192",
        "2048",
        "NVLink",
        "400",
        "eu-lab",
        "2026-07-01",
    ),
    check=_fits,
)
DISCOUNTS: Final = OwnTable(
    name="discounts",
    file="own_discounts.csv",
    columns=(
        Column("cloud", "Cloud", "as the catalog names it", cells.cloud, required=True),
        Column(
            "market",
            "Market",
            "on-demand, spot, reserved-1y or reserved-3y",
            cells.market,
            required=True,
        ),
        Column(
            "discount_percent",
            "Discount, %",
            "off the list price, %",
            cells.number(0.01, 99, "%"),
            required=True,
        ),
    ),
    key=("cloud", "market"),
    example=("aws", "on-demand", "12"),
    check=unchanged,
)
CREDITS: Final = OwnTable(
    name="credits",
    file="own_credits.csv",
    columns=(
        Column("cloud", "Cloud", "as the catalog names it", cells.cloud, required=True),
        Column(
            "credits_usd",
            "Credits, USD",
            "what is left of them, USD",
            cells.number(0.01, 1e9, "USD"),
            required=True,
        ),
    ),
    key=("cloud",),
    example=("gcp", "1000"),
    check=unchanged,
)
# Columns whose values are few, and those values.
CHOICES: Final[dict[str, Callable[[Known], list[str]]]] = {
    "accelerator": lambda known: [str(name) for name in known.accelerators.index],
    "cloud": lambda known: list(known.clouds),
    "market": lambda _: list(cells.MARKETS),
    "kind": lambda _: list(cells.COMMITMENTS),
}
TABLES: Final = {
    table.name: table for table in (MACHINES, DISCOUNTS, CREDITS, COMMITMENTS, RATES, CARBON)
}
