"""The table of machines and prices: columns with units, and the same as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from advisor.advice.exports import safe_cell
from advisor.ui.theme import CLOUD_TITLES, MARKET_TITLES

if TYPE_CHECKING:
    import pandas as pd

# Columns of `advisor.catalog.prices.price_table` and how they are headed, in the order shown.
TITLES: Final = {
    "instance_type": "Machine",
    "accelerators": "n",
    "accelerator": "Accelerator",
    "usd_per_accelerator_h": "USD/accelerator-h",
    "usd_per_h": "USD/h",
    "usd_per_pflop_h": "USD/PFLOP-h, bf16",
    "list_usd_per_h": "List, USD/h",
    "cloud": "Cloud",
    "market": "Market",
    "region": "Region",
    "regions": "Regions",
    "age_days": "Age, days",
    "trust": "Trust",
    "accelerator_memory_gb": "Memory each, GB",
    "peak_bf16_tflops": "Peak bf16 each, TFLOP/s",
    "vcpus": "vCPUs",
    "memory_gb": "RAM, GB",
    "network_gbit_per_s": "Network, Gbit/s",
    "source": "Source",
}
DECIMALS: Final = {
    "usd_per_h": 2, "usd_per_accelerator_h": 3, "usd_per_pflop_h": 2, "list_usd_per_h": 2,
    "accelerator_memory_gb": 1, "peak_bf16_tflops": 1, "memory_gb": 0, "network_gbit_per_s": 1,
    "vcpus": 0, "age_days": 0, "regions": 0,
}  # fmt: skip
WIDTHS: Final = {"age_days": 96, "usd_per_pflop_h": 128, "network_gbit_per_s": 128}
HELP: Final = {
    "accelerators": "Accelerators in one machine; less than 1 is a share of one.",
    "usd_per_pflop_h": "Price over the dense bf16 peak of all accelerators of the machine.",
    "age_days": "Since the day of the price; none where the source has no date.",
    "memory_gb": "Main memory, decimal gigabytes.",
    "regions": "Regions in which the machine is sold in this market.",
    "network_gbit_per_s": "Of one machine to the others.",
}


def shown_prices(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows under plain titles with units; the list price only where it differs."""
    names = [name for name in TITLES if name in rows]
    if not (rows["discount_percent"] > 0).any():
        names.remove("list_usd_per_h")
    shown = rows[names].round({name: digits for name, digits in DECIMALS.items() if name in names})
    shown["market"] = shown["market"].astype(object).map(MARKET_TITLES)
    shown["cloud"] = shown["cloud"].map(lambda cloud: CLOUD_TITLES.get(cloud, cloud))
    return shown.rename(columns=TITLES)


def show_table(shown: pd.DataFrame) -> None:
    """Draw the table; a click on a header sorts it."""
    config: dict[str, Any] = {}
    for name, digits in DECIMALS.items():
        pattern = f"%.{digits}f" if name.startswith(("usd", "list_usd")) else "localized"
        config[TITLES[name]] = st.column_config.NumberColumn(
            format=pattern, help=HELP.get(name), width=WIDTHS.get(name)
        )
    config["Machine"] = st.column_config.TextColumn(width=160)
    config["Source"] = st.column_config.TextColumn(width=240)
    config["n"] = st.column_config.NumberColumn(width=40, help=HELP["accelerators"])
    st.dataframe(shown, hide_index=True, column_config=config, height=520, key="prices",
                 placeholder="not available", alt="Machines and prices")  # fmt: skip


def prices_csv(rows: pd.DataFrame) -> str:
    """Return the rows as CSV under the names of `price_table`, safe for spreadsheets."""
    names = [name for name in TITLES if name in rows]
    text = rows[[*names, "as_of"]].copy()
    for name in ("instance_type", "region", "source"):
        text[name] = text[name].astype(str).map(safe_cell)
    return str(text.to_csv(index=False, date_format="%Y-%m-%d"))
