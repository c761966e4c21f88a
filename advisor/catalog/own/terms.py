"""Lists of what no public table holds: commitments, exchange rates, carbon intensity of grids."""

from __future__ import annotations

from typing import Final

from advisor.catalog.own import cells
from advisor.catalog.own.known import Known
from advisor.catalog.own.table import Column, OwnTable, Row, unchanged
from advisor.core.errors import InvalidInputError, UnknownNameError

LONGEST_BLOCK_H: Final = 24 * 182


def _is_possible(row: Row, known: Known) -> Row:
    """Check that the cloud has the machine, and that a block, and only that, has a length."""
    cloud, machine = str(row["cloud"]), str(row["instance_type"])
    if (cloud, machine) not in known.machines:
        own = [name for other, name in known.machines if other == cloud]
        raise UnknownNameError(f"instance type of {cloud}", machine, own)
    if (row["kind"] == "capacity_block") != (row["block_h"] is not None):
        wanted = "needs its length" if row["block_h"] is None else "has no fixed length"
        raise InvalidInputError(
            f"a {str(row['kind']).replace('_', ' ')} {wanted}.",
            todo="Give block_h of a capacity block, and leave it empty otherwise.",
        )
    return row


COMMITMENTS: Final = OwnTable(
    name="commitments",
    file="own_commitments.csv",
    columns=(
        Column("cloud", "Cloud", "as the catalog names it", cells.cloud, required=True),
        Column(
            "instance_type",
            "Instance type",
            "as the catalog names it",
            cells.instance_type,
            required=True,
        ),
        Column("region", "Region", "as the cloud names it", cells.name, required=True),
        Column("kind", "Kind", "savings-plan or capacity-block", cells.commitment, required=True),
        Column(
            "usd_per_h",
            "USD/h",
            "price of one machine, USD/h; of a capacity block: its price by its hours",
            cells.number(0.01, 2_000, "USD/h"),
            required=True,
        ),
        Column(
            "block_h",
            "Block, h",
            "length of a capacity block, h; all of it is paid, and the job must end within it",
            cells.number(1, LONGEST_BLOCK_H, "h"),
        ),
        Column(
            "available",
            "Machines",
            "machines it holds; empty: any number",
            cells.whole(20_000, "machines"),
        ),
        Column(
            "as_of", "As of", "day of the price, year-month-day; empty: of the file", cells.date
        ),
    ),
    key=("cloud", "instance_type", "region", "kind"),
    example=("aws", "p5.48xlarge", "us-east-1", "capacity-block", "31.46", "96", "4", "2026-07-01"),
    check=_is_possible,
)
RATES: Final = OwnTable(
    name="rates",
    file="own_rates.csv",
    columns=(
        Column("currency", "Currency", "its code: EUR, GBP, JPY", cells.currency, required=True),
        Column(
            "usd",
            "Worth, USD",
            "what one unit is worth, USD",
            cells.number(1e-6, 1e4, "USD"),
            required=True,
        ),
        Column("as_of", "As of", "day of the rate, year-month-day", cells.date, required=True),
    ),
    key=("currency",),
    example=("EUR", "1.10", "2026-07-01"),
    check=unchanged,
)
CARBON: Final = OwnTable(
    name="carbon",
    file="own_carbon.csv",
    columns=(
        Column("cloud", "Cloud", "as the catalog names it, or own", cells.any_cloud, required=True),
        Column("region", "Region", "as the cloud names it", cells.name, required=True),
        Column(
            "g_per_kwh",
            "g CO2e/kWh",
            "what the grid there emits, g CO2e/kWh",
            cells.number(0, 2_000, "g/kWh"),
            required=True,
        ),
        Column(
            "pue",
            "PUE",
            "energy of the whole site over that of its machines; empty: 1, machines alone",
            cells.number(1, 3, ""),
        ),
        Column("as_of", "As of", "day or end of the year it is of, year-month-day", cells.date),
    ),
    key=("cloud", "region"),
    example=("gcp", "europe-west4", "250", "1.1", "2025-12-31"),
    check=unchanged,
)
