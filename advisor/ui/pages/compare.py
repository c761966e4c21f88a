"""Compare: two to five plans of one job side by side."""

from __future__ import annotations

import streamlit as st

from advisor.advice.advise import select
from advisor.core.errors import AdvisorError
from advisor.ui import basket, calibration, notices
from advisor.ui.address import Address, address_of, current_inputs, write_address
from advisor.ui.side_by_side import find_plans, show_comparison
from advisor.ui.state import Inputs, clouds_of
from advisor.ui.text import plain


def nothing_chosen() -> None:
    """Say how plans come here."""
    with st.container(width=760, gap="small"):
        st.markdown("# Compare plans", anchors=False)
        with st.container(border=True, gap="xsmall", key="empty"):
            st.markdown("#### :primary[:material/compare_arrows:] No plan is chosen yet",
                        anchors=False)  # fmt: skip
            st.markdown(
                ":gray[On Advise, choose two to five plans: **+** on a card, ticked rows of the "
                "table, dots of the chart, or *Add to compare* on a plan.]"
            )
            st.page_link("advisor/ui/pages/advise.py", label="Choose on Advise",
                         icon=":material/arrow_back:")  # fmt: skip


def show(inputs: Inputs, keys: list[str], address: Address) -> None:
    """Draw the plans side by side; those that are no more are named."""
    answer = calibration.answer_to(inputs)
    loaded, table = answer.engine, answer.table
    limits = inputs.limits(clouds_of(loaded))
    found = find_plans(keys, table, select(table, limits), loaded, limits.deadline_h)
    st.markdown("# Compare plans", anchors=False)
    st.markdown(f":gray[{plain(inputs.job)}]")
    if inputs.runs:
        calibration.show_runs(inputs, answer)
    for key in keys:
        if key not in {one.key for one in found}:
            _gone(key)
    if found:
        show_comparison(found, limits.deadline_h, address)
    if len(found) < basket.FEWEST:
        st.markdown(":gray[Add at least one more plan on Advise to compare.]")
        st.page_link("advisor/ui/pages/advise.py", label="Choose on Advise",
                     icon=":material/arrow_back:")  # fmt: skip


def _gone(key: str) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":orange[:material/info:] **{plain(basket.short_name(key))}** is not among "
            "today's plans: its machine left the catalog, or the job no longer fits."
        )
        st.button("Take out", key=f"gone_{key}", on_click=basket.remove, args=(key,))  # fmt: skip


try:
    inputs = current_inputs()
    keys = basket.chosen()
    if inputs.job and keys:
        address = address_of(inputs) | {basket.PARAMETER: keys}
        write_address(address)
        show(inputs, keys, address)
    else:
        nothing_chosen()
except AdvisorError as error:
    notices.not_understood(error)
