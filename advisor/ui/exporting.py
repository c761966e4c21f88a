"""Export a plan from its detail: a tool, the command, the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.exporter import EXPORTERS, export, launch_of, possible
from advisor.advice.launch import DEFAULT_COMMAND
from advisor.advice.quoting import LONGEST_COMMAND, words_of
from advisor.core.errors import InvalidInputError
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Plan, Workload

LANGUAGES: Final = {"hcl": "hcl", "yaml": "yaml", "bash": "bash", "json": "json", "csv": None}


def export_button(plan: Plan, workload: Workload, catalog: Catalog) -> None:
    """Draw the button that opens the choice of tools and the file for the chosen one."""
    with st.popover("Export", icon=":material/output:"):
        reasons = possible(launch_of(plan, workload, catalog))
        taken = [name for name, reason in reasons.items() if not reason]
        usual = taken.index("skypilot") if "skypilot" in taken else 0
        name = st.selectbox("For", taken, index=usual, key="export_tool",
                            format_func=lambda one: EXPORTERS[one].label)  # fmt: skip
        given = st.text_input("Your training command", " ".join(DEFAULT_COMMAND),
                              key="export_command", max_chars=LONGEST_COMMAND)  # fmt: skip
        try:
            made = export(name, launch_of(plan, workload, catalog, words_of(given)))
        except InvalidInputError as error:
            st.markdown(f":red[:material/error: {plain(str(error))}]")
            return
        st.download_button(made.file_name, made.text, made.file_name, made.media_type,
                           icon=":material/download:", on_click="ignore")  # fmt: skip
        st.markdown(f":small[:gray[{plain(made.use)}]]")
        st.code(made.text, language=LANGUAGES[made.language], height=280)
        for tool, reason in reasons.items():
            if reason:
                label = plain(EXPORTERS[tool].label)
                st.markdown(f":small[:gray[Not for {label}: {plain(reason)}]]")
