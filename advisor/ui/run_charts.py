"""Where the time of an uploaded run went: its bar, its timeline and its ranks side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from advisor.core.units import NBSP, duration
from advisor.ui.charts.bars import draw_bar, part_marks
from advisor.ui.charts.style import CONFIG
from advisor.ui.charts.traced import draw_ranks, draw_timeline, ranks_data, ranks_words, run_bar
from advisor.ui.text import plain
from advisor.ui.theme import palette

if TYPE_CHECKING:
    from advisor.traces import Trace


def show_run_charts(trace: Trace, number: int) -> None:
    """Draw what a trace tells of its time; nothing where it tells nothing.

    Parameters
    ----------
    number : int
        Of the file in the session.
    """
    if trace.parts is None:
        return
    colours, bar = palette(), run_bar(trace.parts, trace.steps)
    with st.expander("Where the time goes", icon=":material/stacked_bar_chart:"):
        of = "a mean step" if trace.steps else "the observed time"
        said = ", ".join(f"{part.name} {part.text}" for part in bar.parts)
        st.markdown(f":small[:gray[Of {of}, {duration(bar.whole)}, mean over devices and ranks]]")
        st.plotly_chart(draw_bar(bar, colours), theme=None, config=CONFIG,
                        key=f"time_{number}", alt=f"Parts of {of}: {said}")  # fmt: skip
        with st.grid(len(bar.parts), min_column_width=96, gap="xsmall"):
            for part, mark in zip(bar.parts, part_marks(bar, colours), strict=True):
                share = f" :small[:gray[{100 * part.share:.1f}{NBSP}%]]" if part.share > 0 else ""
                st.markdown(f":small[{mark} :gray[{part.name}]]  \n**{plain(part.text)}**{share}")
        if trace.timeline is not None:
            title = "What a device did over time"
            title += " (slowest rank)" if len(trace.ranks) > 1 else ""
            st.plotly_chart(draw_timeline(trace.timeline, title, bar, colours), theme=None,
                            config=CONFIG, key=f"timeline_{number}", alt=title)  # fmt: skip
        if (ranks := ranks_data(trace.ranks)) is not None:
            st.plotly_chart(draw_ranks(ranks, bar, colours), theme=None, config=CONFIG,
                            key=f"ranks_{number}", alt=ranks_words(ranks))  # fmt: skip
