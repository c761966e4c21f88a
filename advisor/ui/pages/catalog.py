"""Catalog: machines and prices to compare, and the user's own."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import streamlit as st

from advisor import catalog as catalogs
from advisor.catalog import Catalog
from advisor.catalog.prices import cheapest, matching, price_table
from advisor.catalog.trust import OLD_AFTER_DAYS
from advisor.core.errors import AdvisorError
from advisor.core.units import NBSP
from advisor.ui import notices
from advisor.ui.catalog_table import prices_csv, show_table, shown_prices
from advisor.ui.charts.prices import MOST, draw_prices, price_ranges
from advisor.ui.charts.style import CONFIG
from advisor.ui.own_lists import show_own_lists
from advisor.ui.state import AREAS, DEFAULT_MARKETS, MARKETS
from advisor.ui.text import plain
from advisor.ui.theme import (
    CLOUD_TITLES,
    FAMILY_TITLES,
    MARKET_MARKS,
    MARKET_TITLES,
    palette,
    swatch,
)

FILTERS = (
    "catalog_search",
    "clouds_listed",
    "accelerators_listed",
    "markets_listed",
    "areas_listed",
)


@st.cache_resource(max_entries=2, show_spinner="Comparing prices …")
def prices(stamp: str, today: dt.date) -> pd.DataFrame:  # noqa: ARG001 - the stamp is in the key
    """Return every price with its machine; made anew when own prices or the day change."""
    return price_table(catalogs.load(), today)


def clear_filters() -> None:
    """Show every machine again (a callback)."""
    for name in FILTERS:
        st.session_state[name] = "" if name == "catalog_search" else []


def head(catalog: Catalog, table: pd.DataFrame) -> None:
    """Say how many prices there are, how old they are, and what is wrong with a source."""
    st.markdown("# Catalog", anchors=False)
    old = 100 * (table["age_days"].fillna(OLD_AFTER_DAYS + 1) > OLD_AFTER_DAYS).mean()
    st.markdown(
        f":gray[{len(catalog.machines):,} machine types · {len(table):,} prices · newest of "
        f"{catalog.as_of} · {old:.0f}{NBSP}% older than {OLD_AFTER_DAYS}{NBSP}days or undated]"
    )
    for note in catalog.notes:
        with st.container(border=True, key="note"):
            st.markdown(f":orange[:material/warning:] {plain(note)}")


def filtered(table: pd.DataFrame) -> pd.DataFrame:
    """Draw search and filters; return the rows that are left."""
    with st.container(border=True, gap="xsmall", key="filters"):
        search = st.text_input(
            "Search", key="catalog_search", icon=":material/search:", max_chars=200,
            placeholder="H100, p5, europe-west4 …", label_visibility="collapsed",
        )  # fmt: skip
        with st.grid(4, min_column_width=180, gap="small"):
            clouds = st.multiselect("Clouds", sorted(table["cloud"].unique()), key="clouds_listed",
                                    placeholder="all",
                                    format_func=lambda c: CLOUD_TITLES.get(c, c))  # fmt: skip
            names = sorted(table["accelerator"].unique(), key=str.casefold)
            accelerators = st.multiselect("Accelerators", names, key="accelerators_listed",
                                          placeholder="all")  # fmt: skip
            markets = st.multiselect("Markets", MARKETS, key="markets_listed", placeholder="all",
                                     default=DEFAULT_MARKETS,
                                     format_func=MARKET_TITLES.__getitem__)  # fmt: skip
            areas = st.multiselect("Regions", AREAS, key="areas_listed",
                                   placeholder="all")  # fmt: skip
        with st.container(horizontal=True, gap="medium"):
            every = st.toggle("Every region", key="every_region",
                              help="One row per region instead of the cheapest of each machine "
                                   "and market.")  # fmt: skip
            doubtful = st.toggle("Doubtful prices", key="doubtful",
                                 help="Prices that are never recommended: far from all others, or "
                                      "reserved where nothing is sold on demand.")  # fmt: skip
    found = matching(table, search, clouds=clouds, accelerators=accelerators, markets=markets,
                     areas=areas)  # fmt: skip
    trusted = found if doubtful else found[found["rankable"]]
    rows = trusted if every else cheapest(trusted)
    return rows.sort_values(["usd_per_pflop_h", "usd_per_accelerator_h"], kind="stable")


def nothing_left() -> None:
    """Offer a way back from filters that leave nothing."""
    with st.container(border=True, gap="xsmall", key="nothing"):
        st.markdown("#### :orange[:material/search_off:] No price matches", anchors=False)
        st.markdown(":gray[Leave out a word, a cloud, an accelerator, a market or a region.]")
        st.button("Clear filters", icon=":material/filter_alt_off:", on_click=clear_filters)


def table_block(rows: pd.DataFrame, table: pd.DataFrame) -> None:
    """Draw the table with its download."""
    with st.container(border=True, gap="xsmall"):
        shown = f"{len(rows):,} of {len(table):,} · click a header to sort"
        st.markdown(f"#### Machines and prices :small[:gray[{shown}]]", anchors=False)
        show_table(shown_prices(rows))
        st.download_button("CSV", lambda: prices_csv(rows), "prices.csv", "text/csv",
                           icon=":material/download:", on_click="ignore")  # fmt: skip


def chart_block(rows: pd.DataFrame) -> None:
    """Draw prices by accelerator; nothing where no price of the rows is trusted."""
    ranges = price_ranges(rows)
    if not ranges:
        return
    colours = palette()
    number = rows["accelerator"].nunique()
    shown = len({one.accelerator for one in ranges})
    note = f" · the {MOST} strongest of {number}" if shown < number else ""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"#### Price by accelerator :small[:gray[mark: cheapest, line: to the "
                    f"dearest{note}]]", anchors=False)  # fmt: skip
        families = dict.fromkeys(one.family for one in ranges)
        markets = dict.fromkeys(one.market for one in ranges)
        marks = [f"{swatch(colours.family(n))} {FAMILY_TITLES.get(n, n)}" for n in families]
        shapes = [f"{MARKET_MARKS[m]} {MARKET_TITLES[m]}" for m in markets]
        st.markdown(f":small[{'  '.join([*marks, *shapes])}]")
        st.plotly_chart(draw_prices(ranges, colours), theme=None, config=CONFIG, key="price_chart",
                        alt="Price per accelerator-hour by accelerator and market")  # fmt: skip


try:
    loaded = catalogs.load()
    whole = prices(catalogs.stamp(), dt.datetime.now(tz=dt.UTC).date())
    head(loaded, whole)
    left = filtered(whole)
    if len(left):
        table_block(left, whole)
        chart_block(left)
    else:
        nothing_left()
    show_own_lists()
except AdvisorError as error:
    notices.not_understood(error)
