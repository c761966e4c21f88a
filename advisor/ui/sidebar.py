"""The constraints: they filter an already evaluated table, so they act at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import streamlit as st

from advisor.advice.infeasible import NAMES
from advisor.advice.limits import USUAL_CLOUDS
from advisor.domain.hardware import OWN_CLOUD
from advisor.ui.limits_panel import show_limits
from advisor.ui.state import (
    AREAS,
    CHOICE_TITLES,
    DEFAULT_CLOUDS,
    DEFAULT_MACHINES,
    DEFAULT_MARKETS,
    MARKETS,
    MOST_RETRIES,
    OTHER_CLOUDS,
    cloud_choices,
)
from advisor.ui.theme import FAMILIES, FAMILY_TITLES, MARKET_TITLES

if TYPE_CHECKING:
    from advisor.advice import Result
    from advisor.search.search import Evaluated

BIND: Final = "query-params"
REMOVED_TITLES = {
    **{name: title.capitalize() for name, title in NAMES.items()},
    "memory": "Memory",
    "slower_layout": "Slower layout",
    "interruptions": "Never finishes",
    "price_not_trusted": "Price not trusted",
}


def constraints() -> None:
    """Draw the constraint widgets; their values are in the session and in the address."""
    st.markdown("### Constraints")
    st.number_input("Deadline, h", min_value=0.1, value=None, step=6.0, format="%g",
                    placeholder="none", key="deadline", bind=BIND)  # fmt: skip
    st.number_input("Budget, USD", min_value=1.0, value=None, step=100.0, format="%g",
                    placeholder="none", key="budget", bind=BIND)  # fmt: skip
    st.slider("Chance to meet the deadline", 50, 99, 80, format="%d %%", key="chance", bind=BIND)
    st.pills("Markets", MARKETS, selection_mode="multi", default=DEFAULT_MARKETS, key="markets",
             bind=BIND, format_func=MARKET_TITLES.__getitem__, wrap=True)  # fmt: skip
    _clouds()
    st.pills("Regions", AREAS, selection_mode="multi", default=AREAS, key="areas", bind=BIND,
             wrap=True)  # fmt: skip
    st.pills("Accelerators", list(FAMILIES), selection_mode="multi", default=list(FAMILIES),
             key="families", bind=BIND, wrap=True,
             format_func=lambda name: FAMILY_TITLES.get(name, name))  # fmt: skip
    st.number_input("Machines, at most", min_value=1, max_value=512, value=DEFAULT_MACHINES,
                    key="machines", bind=BIND)  # fmt: skip
    st.number_input("Allowance for restarts, %", min_value=0, max_value=MOST_RETRIES, value=0,
                    step=5, key="retries", bind=BIND,
                    help="Extra hours for failed and repeated work. Interruptions of spot machines "
                         "are counted where there is data; else allow for them here.")  # fmt: skip
    show_limits()
    st.text_input("You run on today", placeholder="4 x p4d.24xlarge", key="today", bind=BIND,
                  help="Count and instance type; the picks then show what they save.")  # fmt: skip


def _clouds() -> None:
    """Draw the clouds: own machines join the default choice as they come, and leave as they go."""
    clouds = cloud_choices()
    chosen = st.session_state.get("clouds", [])
    new = OWN_CLOUD in clouds and st.session_state.get("own_missing", False)
    if new and set(chosen) == set(USUAL_CLOUDS):
        st.session_state["clouds"] = list(DEFAULT_CLOUDS)
    elif not set(chosen) <= set(clouds):
        st.session_state["clouds"] = [cloud for cloud in chosen if cloud in clouds]
    st.session_state["own_missing"] = OWN_CLOUD not in clouds
    st.pills("Clouds", clouds, selection_mode="multi", key="clouds", bind=BIND, wrap=True,
             default=[cloud for cloud in clouds if cloud != OTHER_CLOUDS],
             format_func=CHOICE_TITLES["clouds"].__getitem__)  # fmt: skip


def account(evaluated: Evaluated, result: Result) -> None:
    """Say how much was searched and what each constraint removed."""
    st.markdown(f"**{evaluated.considered:,}** candidates in {evaluated.seconds:.1f} s")
    removed = [(REMOVED_TITLES.get(k, k), f"{n:,}") for k, n in result.removed.items() if n]
    left = ("**Left**", f"**{len(result.rows):,}**")
    table = pd.DataFrame([*removed, left], columns=["Removed by", "Candidates"])
    st.table(table, border="horizontal", hide_index=True)
