"""What to measure next: a table that is made when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from advisor.advice.probe_words import advice_words, now_words
from advisor.advice.probes import what_to_measure
from advisor.core.units import duration, percent, usd
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from advisor.domain import ProbeRun, Probes
    from advisor.ui.answer import Answer


def show_probes(answer: Answer) -> None:
    """Draw which short runs would make the choice surer, behind an expander."""
    opened = st.expander("What to measure next", icon=":material/science:", key="probes",
                         bind="query-params")  # fmt: skip
    if not opened.open:
        return
    found = what_to_measure(answer.table, answer.result.rows, answer.limits, answer.engine)
    with opened:
        mark = ":green[:material/science:]" if found.best else ":gray[:material/money_off:]"
        st.markdown(f"{mark} **{plain(advice_words(found))}** {plain(now_words(found))}")
        if found.probes:
            st.table(
                probes_table(found),
                border="horizontal",
                hide_index=True,
                alt="Short runs before the choice, what each costs and how sure it makes",
            )
        st.markdown(
            ":small[:gray[A few steps of this very job on both; their logs or traces, dropped on "
            "*Profiles*, then calibrate this answer. *Loss* is what the chosen plan is expected "
            f"to cost above the best of the {found.plans:,} that could be cheapest.]]"
        )  # fmt: skip


def probes_table(found: Probes) -> pd.DataFrame:
    """Return what is shown of probes, choosing now first; cells are markdown.

    Whether a probe pays stands there only where one does not.
    """
    now = ("Choose now", "", "", percent(found.wrong_probability), usd(found.regret_usd), "")
    then = [
        (
            " and ".join(f"{run.cluster}, {_market(run)}" for run in probe.runs),
            usd(probe.cost_usd),
            duration(probe.wait_s),
            percent(probe.wrong_probability),
            usd(probe.regret_usd),
            "" if probe.pays else "does not pay",
        )
        for probe in found.probes
    ]
    cells = [[plain(cell) for cell in row] for row in (now, *then)]
    shown = pd.DataFrame(cells, columns=["Measure", "Price", "Starts in", "Wrong", "Loss", " "])
    return shown if shown[" "].any() else shown.drop(columns=" ")


def _market(run: ProbeRun) -> str:
    return MARKET_TITLES[run.offer.market].lower()
