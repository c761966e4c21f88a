"""Plans: those that were saved, what changed since, and how runs of them came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.core.errors import AdvisorError
from advisor.store import Store
from advisor.ui import notices, plan_edits
from advisor.ui.address import restore
from advisor.ui.plan_cards import ADVISE, show_saved
from advisor.ui.state import inputs_of, session_values
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.store import SavedPlan
    from advisor.ui.state import Inputs

AT_ONCE: Final = 20


def nothing_saved() -> None:
    """Say how plans come here."""
    with st.container(width=760, gap="small"), st.container(border=True, gap="xsmall", key="empty"):
        st.markdown("#### :primary[:material/bookmark:] No plan is saved yet", anchors=False)
        st.markdown(
            ":gray[Open a plan on Advise and choose *Save plan*. It stays here with its price and "
            "its prediction, and later tells what changed and how its run came out.]"
        )
        st.page_link(ADVISE, label="Find a plan on Advise", icon=":material/arrow_back:")


def show_list(plans: list[SavedPlan], current: Inputs) -> None:
    """Draw the saved plans, newest first, some at a time."""
    shown = st.session_state.get("plans_shown", AT_ONCE)
    for saved in plans[:shown]:
        show_saved(saved, current)
    if len(plans) > shown:
        st.button(f"Show {min(AT_ONCE, len(plans) - shown)} more of {len(plans):,}", key="more",
                  on_click=_show_more)  # fmt: skip


def _show_more() -> None:
    st.session_state["plans_shown"] = st.session_state.get("plans_shown", AT_ONCE) + AT_ONCE


def show_deleted(plans: list[SavedPlan]) -> None:
    """Offer deleted plans back."""
    if not plans:
        return
    with st.expander(f"Deleted plans ({len(plans):,})", icon=":material/delete:"):
        for saved in plans[:AT_ONCE]:
            with st.container(horizontal=True, horizontal_alignment="distribute",
                              vertical_alignment="center"):  # fmt: skip
                st.markdown(f"{plain(saved.name)} :small[:gray[{plain(saved.job)}]]",
                            width="stretch")  # fmt: skip
                st.button("Bring back", key=f"restore_{saved.id}", type="tertiary",
                          on_click=plan_edits.take_back,
                          args=("page", saved.id, "delete_plan"))  # fmt: skip


# The widgets of Advise are not here: without this their values would be forgotten.
current = inputs_of(session_values())
if current.job:
    restore(current)
st.markdown("# Plans", anchors=False)
try:
    with Store.open() as store:
        kept, gone = store.plans(), store.plans(deleted=True)
    plan_edits.show_told()
    plan_edits.show_problem("page")
    if kept:
        show_list(kept, current)
    else:
        nothing_saved()
    show_deleted(gone)
except AdvisorError as error:
    notices.not_understood(error)
