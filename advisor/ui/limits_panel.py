"""The expander “Limits” of the sidebar: place, machines, price, and what the clouds allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor import catalog as catalogs
from advisor.advice.quota_text import quota_table, read_quotas
from advisor.catalog.places import GROUPS, country_names
from advisor.core.errors import AdvisorError
from advisor.search.data_set import places
from advisor.ui.more_limits import MOST_MARGIN, USUAL_MARGIN, MoreLimits
from advisor.ui.state import address_values
from advisor.ui.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog import Catalog

BIND: Final = "query-params"
MOST_SHOWN: Final = 6
MOST_NAMED: Final = 3


def show_limits() -> None:
    """Draw the widgets; their values are in the session and in the address."""
    # On the first run the widgets have not read the address yet.
    said = address_values() | {str(name): st.session_state[name] for name in st.session_state}
    more = MoreLimits.of(said)
    given = more.given
    title = f"Limits · {given} set" if given else "Limits"
    try:
        catalog = catalogs.load()
    except AdvisorError:  # the page says so where it opens the engine
        return
    with st.expander(title, icon=":material/tune:", key="limits", expanded=given > 0):
        _place(catalog, more.residency)
        _machines()
        _price(catalog)
        _carbon(catalog)
        _quotas(catalog)


def _place(catalog: Catalog, chosen: Sequence[str]) -> None:
    st.markdown("**Place**")
    countries = f"{len(chosen)} countries" if len(chosen) > MOST_NAMED else ", ".join(chosen)
    # Not a multiselect: its white text on the sidebar's colour is unreadable in the dark.
    with st.popover(
        f"Machines stand in {plain(countries or 'any country')}",
        width="stretch",
        key="residency_choice",
    ):
        st.pills("Countries", [*GROUPS, *country_names(catalog).values()], key="residency",
                 selection_mode="multi", bind=BIND, wrap=True,
                 help="Regions that no source places in a country are left out.")  # fmt: skip
    st.number_input("Data set, GB", min_value=0.0, value=None, step=100.0, format="%g",
                    placeholder="none", key="data_gb", bind=BIND,
                    help="Stored beside the machines while the job runs.")  # fmt: skip
    where = [f"{cloud}:{region}" for cloud, regions in places(catalog).items()
             for region in regions if region not in ("unspecified", "all")]  # fmt: skip
    st.selectbox("Data set lies in", ["", *where], key="data_at", bind=BIND, index=0,
                 format_func=lambda place: place or "where the machines are",
                 help="Moving it to another place is part of the bill.")  # fmt: skip


def _machines() -> None:
    st.markdown("**Machines**")
    st.number_input("Accelerator memory, GB, at least", min_value=1.0, value=None, step=8.0,
                    format="%g", placeholder="none", key="memory", bind=BIND)  # fmt: skip
    st.slider("Memory left free", 0, MOST_MARGIN, USUAL_MARGIN, format="%d %%", key="margin",
              bind=BIND, help="Layouts that need more are not tried.")  # fmt: skip
    st.toggle("Confidential computing", key="confidential", bind=BIND,
              help="Only machines whose accelerators a source says work in confidential "
                   "machines.")  # fmt: skip


def _price(catalog: Catalog) -> None:
    st.markdown("**Price**")
    st.number_input("Spot ceiling, USD per accelerator-hour", min_value=0.01, value=None, step=0.5,
                    format="%g", placeholder="none", key="ceiling", bind=BIND)  # fmt: skip
    st.number_input("All machines, USD per hour, at most", min_value=0.01, value=None, step=10.0,
                    format="%g", placeholder="none", key="rate", bind=BIND)  # fmt: skip
    if catalog.rates:
        st.selectbox("Say costs in", ["", *catalog.rates], key="currency", bind=BIND, index=0,
                     format_func=lambda code: code or "USD alone",
                     help="By your own rate and its day: Catalog, Currencies.")  # fmt: skip


def _carbon(catalog: Catalog) -> None:
    if not len(catalog.tables.carbon):
        return
    st.markdown("**Carbon**")
    st.number_input("Emissions, kg CO2e, at most", min_value=0.01, value=None, step=10.0,
                    format="%g", placeholder="none", key="carbon", bind=BIND,
                    help="By your own table of grids; elsewhere they are not known, and count as "
                         "too many.")  # fmt: skip


def _quotas(catalog: Catalog) -> None:
    st.markdown("**Quotas**")
    st.text_area("Quotas of your accounts", key="quota", bind=BIND, height=96,
                 on_change=_take_quotas, placeholder="p4d.24xlarge,4",
                 help="Paste what aws service-quotas list-service-quotas --service-code ec2, "
                      "gcloud compute regions describe REGION --format=json or az vm list-usage "
                      "prints, or rows of type,count. Others are not limited.")  # fmt: skip
    text = str(st.session_state.get("quota") or "")
    if not text.strip():
        return
    try:
        found = read_quotas(text, catalog)
    except AdvisorError as error:
        st.markdown(f":small[:red[:material/error: {plain(str(error))}]]")
        return
    types = len({name for quota in found.quotas for name in quota.instance_types})
    said = "1 quota limits" if len(found.quotas) == 1 else f"{len(found.quotas):,} quotas limit"
    kinds = "1 instance type" if types == 1 else f"{types:,} instance types"
    st.markdown(f":small[:gray[{said} {kinds}.]]")
    if found.unknown:
        names = ", ".join(plain(name) for name in found.unknown[:MOST_SHOWN])
        others = len(found.unknown) - MOST_SHOWN
        more = f" and {others:,} more" if others > 0 else ""
        st.markdown(f":small[:orange[:material/help: Not in the catalog: {names}{more}]]")


def _take_quotas() -> None:
    """Shorten what a tool printed to the rows that count (a callback): the address holds them."""
    text = str(st.session_state["quota"] or "")
    if text.lstrip()[:1] not in ("[", "{"):
        return
    try:
        found = read_quotas(text, catalogs.load())
    except AdvisorError:
        return  # said below the field
    st.session_state["quota"] = quota_table(found.quotas)
