"""Hand a plan on from its detail: the report, and files of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from advisor.advice.exporter import EXPORTERS, by_reason, export, launch_of, possible
from advisor.advice.launch import DEFAULT_COMMAND
from advisor.advice.quoting import LONGEST_COMMAND, words_of
from advisor.advice.sharing import write_report
from advisor.core.errors import InvalidInputError
from advisor.ui.text import plain

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain import Proposal

LANGUAGES: Final = {"hcl": "hcl", "yaml": "yaml", "bash": "bash", "json": "json", "csv": None}
# The first of them that takes the plan is offered first.
USUAL: Final = ("skypilot", "slurm", "terraform", "json")


def report_button(proposal: Proposal) -> None:
    """Draw the button that offers the one-page report; a file is written when it is asked for."""
    with st.popover("Report", icon=":material/description:"):
        st.markdown("One page for the one who pays: the job, the choice, cost and time, why not "
                    "another.")  # fmt: skip
        name = f"plan-{proposal.plan.id}"
        with st.container(horizontal=True, gap="xsmall"):
            st.download_button("PDF", lambda: write_report(proposal, "pdf"), f"{name}.pdf",
                               "application/pdf", icon=":material/download:", type="primary",
                               on_click="ignore", key="report_pdf")  # fmt: skip
            st.download_button("HTML", lambda: write_report(proposal, "html"), f"{name}.html",
                               "text/html", icon=":material/download:", on_click="ignore",
                               key="report_html")  # fmt: skip


def export_button(proposal: Proposal, catalog: Catalog) -> None:
    """Draw the button that opens the choice of tools and the file for the chosen one."""
    with st.popover("Export", icon=":material/output:"):
        reasons = possible(launch_of(proposal, catalog))
        tools = sorted(reasons, key=lambda name: (bool(reasons[name]), EXPORTERS[name].label))
        usual = next(name for name in USUAL if not reasons[name])
        name = st.selectbox("For", tools, index=tools.index(usual), key="export_tool",
                            format_func=lambda one: _title(one, reasons))  # fmt: skip
        if reasons[name]:
            st.markdown(f":orange[:material/info:] {plain(reasons[name])}")
        else:
            _show_file(name, proposal, catalog)
        _show_refused(reasons)


def _title(name: str, reasons: dict[str, str]) -> str:
    label = EXPORTERS[name].label
    return f"{label} (not for this plan)" if reasons[name] else label


def _show_file(name: str, proposal: Proposal, catalog: Catalog) -> None:
    given = st.text_input("Your training command", " ".join(DEFAULT_COMMAND),
                          key="export_command", max_chars=LONGEST_COMMAND)  # fmt: skip
    try:
        made = export(name, launch_of(proposal, catalog, words_of(given)))
    except InvalidInputError as error:
        st.markdown(f":red[:material/error: {plain(str(error))}]")
        return
    st.download_button(made.file_name, made.text, made.file_name, made.media_type,
                       icon=":material/download:", on_click="ignore")  # fmt: skip
    st.markdown(f":small[:gray[{plain(made.use)}]]")
    st.code(made.text, language=LANGUAGES[made.language], height=280)


def _show_refused(reasons: dict[str, str]) -> None:
    for reason, names in by_reason(reasons).items():
        labels = ", ".join(plain(EXPORTERS[name].label) for name in names)
        st.markdown(f":small[:gray[Not for {labels}: {plain(reason)}]]")
