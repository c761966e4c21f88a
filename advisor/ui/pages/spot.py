"""Spot: where and when machines were taken away, your own machines, and jobs that run."""

from __future__ import annotations

import streamlit as st

from advisor import catalog as catalogs
from advisor.core.errors import AdvisorError
from advisor.ui import notices
from advisor.ui.charts.spot import by_age, by_band, by_hour_of_day, draw_heat_map
from advisor.ui.charts.style import CONFIG
from advisor.ui.spot_history import show_history
from advisor.ui.spot_running import show_running
from advisor.ui.text import plain
from advisor.ui.theme import palette

KINDS = {
    "Hour of age": "Google 2019: GPU by region and hour of a machine's age",
    "Hour of the day": "Google 2019: GPU by hour of the day",
    "Published bands": "AWS 2025: accelerator by region, no hours",
}


def where_and_when() -> None:
    """Draw the heat map of interruptions."""
    st.markdown("#### Where and when machines were taken", anchors=False)
    kind = st.radio("Data", list(KINDS), key="spot_map", horizontal=True,
                    label_visibility="collapsed")  # fmt: skip
    if kind == "Published bands":
        data = by_band(catalogs.load())
    else:
        data = by_hour_of_day() if kind == "Hour of the day" else by_age()
    st.plotly_chart(draw_heat_map(data, palette()), theme=None, config=CONFIG, key="heat_map",
                    alt=f"Interruptions. {KINDS[kind]}")  # fmt: skip
    st.markdown(f":small[:gray[{plain(data.note)}]]")


st.markdown("# Spot machines", anchors=False)
try:
    with st.container(border=True, gap="xsmall"):
        show_running()
    with st.container(border=True, gap="xsmall"):
        where_and_when()
    with st.container(border=True, gap="xsmall"):
        show_history()
except AdvisorError as error:
    notices.not_understood(error)
