"""The tables of the catalog: which columns each must have, and a reader that explains damage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import pandas as pd

from advisor.core.errors import CatalogError

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["text", "number", "date"]

REPAIR: Final = "Restore the file from the release, or write it again with data/distil_catalog.py."


@dataclass(frozen=True)
class Table:
    """What a table must look like.

    Parameters
    ----------
    columns : dict
        Column name to kind; every column must be there.
    key : tuple of str
        Columns that together are unique; empty where rows may repeat.
    filled : tuple of str
        Columns that must not be empty, beside the key.
    """

    columns: dict[str, Kind]
    key: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()


def _kinds(text: str = "", number: str = "", date: str = "") -> dict[str, Kind]:
    kinds: dict[str, Kind] = dict.fromkeys(text.split(), "text")
    kinds.update(dict.fromkeys(number.split(), "number"))
    kinds.update(dict.fromkeys(date.split(), "date"))
    return kinds


ACCELERATORS: Final = Table(
    _kinds(
        "name vendor architecture family link source_id url",
        "year fp32_tflops tf32_tflops fp16_tflops bf16_tflops fp8_tflops achievable_bf16_tflops"
        " memory_gb memory_gb_per_s link_gb_per_s pcie_gen tdp_w",
    ),
    key=("name",),
)
MACHINES: Final = Table(
    _kinds(
        "cloud instance_type accelerator link fabric source_id",
        "accelerators vcpus memory_gib link_gb_per_s network_gbit_per_s",
    ),
    key=("cloud", "instance_type"),
    filled=("accelerator", "accelerators", "link_gb_per_s"),
)
OFFERS: Final = Table(
    _kinds("cloud instance_type region market derived source_id", "usd_per_h", "as_of"),
    filled=("cloud", "instance_type", "region", "market", "usd_per_h", "source_id"),
)
ALIASES: Final = Table(_kinds("alias name"), key=("alias",), filled=("name",))
SOURCES: Final = Table(_kinds("source_id licence text", date="as_of"), key=("source_id",))
EGRESS: Final = Table(
    _kinds("src_cloud src_region dst_cloud dst_region source_id", "usd_per_gb"),
    key=("src_cloud", "src_region", "dst_cloud", "dst_region"),
    filled=("usd_per_gb",),
)
STORAGE: Final = Table(
    _kinds("cloud region storage_class source_id", "usd_per_gb_month"),
    key=("cloud", "region", "storage_class"),
    filled=("usd_per_gb_month",),
)
BILLING: Final = Table(
    _kinds("cloud instance_prefix source_id", "increment_s minimum_s"),
    key=("cloud", "instance_prefix"),
    filled=("increment_s", "minimum_s"),
)
WRITES: Final = Table(
    _kinds("cloud storage_class source_id", "usd_per_1000_writes"),
    key=("cloud", "storage_class"),
    filled=("usd_per_1000_writes",),
)
REGIONS: Final = Table(
    _kinds("cloud region country country_name source_id"),
    key=("cloud", "region"),
    filled=("country", "country_name", "source_id"),
)
CONFIDENTIAL: Final = Table(
    _kinds("cloud instance_type technology source_id"),
    key=("cloud", "instance_type"),
    filled=("technology", "source_id"),
)
INTERRUPTION: Final = Table(
    _kinds("cloud region instance_type source_id", "interruption_pct_low interruption_pct_high"),
    key=("cloud", "region", "instance_type"),
    filled=("interruption_pct_low", "interruption_pct_high"),
)
NETWORK: Final = Table(
    _kinds("src_cloud src_region dst_cloud dst_region source_id", "rtt_ms gbit_per_s"),
    key=("src_cloud", "src_region", "dst_cloud", "dst_region"),
)
STARTUP: Final = Table(
    _kinds("cloud scope name source_id", "n ready_median_s ready_p90_s api_median_s api_p90_s"),
    key=("cloud", "scope", "name"),
    filled=("n", "ready_median_s", "ready_p90_s"),
)
BANDWIDTH: Final = Table(
    _kinds("cloud instance_type source_id", "h2d_gb_per_s d2d_gb_per_s"),
    key=("cloud", "instance_type"),
)


@dataclass(frozen=True)
class CatalogTables:
    """What a provider fetches: SI columns, empty is NaN, never 0.

    `hash` names the content: the same tables have the same hash on every machine.
    """

    accelerators: pd.DataFrame
    machines: pd.DataFrame
    offers: pd.DataFrame
    hash: str
    aliases: pd.DataFrame = field(default_factory=pd.DataFrame)
    sources: pd.DataFrame = field(default_factory=pd.DataFrame)
    egress: pd.DataFrame = field(default_factory=pd.DataFrame)
    storage: pd.DataFrame = field(default_factory=pd.DataFrame)
    billing: pd.DataFrame = field(default_factory=pd.DataFrame)
    writes: pd.DataFrame = field(default_factory=pd.DataFrame)
    regions: pd.DataFrame = field(default_factory=pd.DataFrame)
    confidential: pd.DataFrame = field(default_factory=pd.DataFrame)
    interruption: pd.DataFrame = field(default_factory=pd.DataFrame)
    network: pd.DataFrame = field(default_factory=pd.DataFrame)
    startup: pd.DataFrame = field(default_factory=pd.DataFrame)
    discounts: pd.DataFrame = field(default_factory=pd.DataFrame)
    credits: pd.DataFrame = field(default_factory=pd.DataFrame)
    rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    carbon: pd.DataFrame = field(default_factory=pd.DataFrame)


def read_table(path: Path, table: Table) -> pd.DataFrame:
    """Read a CSV file and check it against its description.

    Raises
    ------
    CatalogError
        If the file is missing or empty, a column is missing, a cell is no number or date or is
        empty where it must not be, or a key stands twice. The message names file, row and column.
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    except FileNotFoundError:
        raise CatalogError("the file is missing.", where=str(path), todo=REPAIR) from None
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError, OSError) as error:
        raise CatalogError(f"cannot be read ({error}).", where=str(path), todo=REPAIR) from None
    missing = [column for column in table.columns if column not in frame]
    if missing:
        raise CatalogError(f"no column {missing[0]}.", where=str(path), todo=REPAIR)
    if not isinstance(frame.index, pd.RangeIndex):
        raise CatalogError("rows have more cells than the header.", where=str(path), todo=REPAIR)
    if frame.empty:
        raise CatalogError("the table has no rows.", where=str(path), todo=REPAIR)
    return check_table(frame[list(table.columns)], table, str(path))


def check_table(frame: pd.DataFrame, table: Table, where: str) -> pd.DataFrame:
    """Return the frame of texts with numbers and dates converted; see `read_table`."""
    for column in table.filled:
        _refuse(frame[column] == "", frame, column, "is empty", where)
    if table.key:
        twice = frame.duplicated(list(table.key))
        _refuse(twice, frame, ", ".join(table.key), "stands twice", where)
    converted: dict[str, pd.Series] = {}
    for column, kind in table.columns.items():
        text = frame[column]
        if kind == "text":
            converted[column] = text
            continue
        blank = text == ""
        given = text.mask(blank)
        values = _numbers(given) if kind == "number" else _dates(given)
        _refuse(values.isna() & ~blank, frame, column, f"is no {kind}", where)
        converted[column] = values
    return pd.DataFrame(converted)


def _numbers(text: pd.Series[str]) -> pd.Series[float]:
    values = pd.to_numeric(text, errors="coerce").astype(float)
    return values.where(values.abs() != float("inf"))


def _dates(text: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    days = pd.to_datetime(text, format="%Y-%m-%d", errors="coerce")
    return days.astype("datetime64[s]")


def _refuse(bad: pd.Series, frame: pd.DataFrame, column: str, what: str, where: str) -> None:
    if not bad.any():
        return
    position = int(bad.to_numpy().argmax())
    given = ", ".join(str(frame[name].iloc[position]) for name in column.split(", "))
    raise CatalogError(
        f"“{given}” {what}." if given else f"the cell {what}.",
        where=f"{where}, row {position + 2}, column {column}",  # the header is row 1
        todo=REPAIR,
    )
