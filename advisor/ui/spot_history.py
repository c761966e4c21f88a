"""The user's own machines: their start and stop times, kept for the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from advisor.core.errors import AdvisorError
from advisor.core.units import HOUR_S, NBSP, percent
from advisor.transient.history import lifetime_of_history, read_history
from advisor.transient.markets import usual_shape
from advisor.ui import notices
from advisor.ui.charts.style import CONFIG, plain_layout
from advisor.ui.text import plain
from advisor.ui.theme import palette

if TYPE_CHECKING:
    from advisor.transient import KnownLifetime
    from advisor.ui.theme import Palette

KEY: Final = "spot_history"
MOST_MB: Final = 20
HOURS: Final = np.linspace(0, 24, 97)
HEIGHT: Final = 260
EXAMPLE: Final = "start,stop,revoked\n2026-11-02 08:00,2026-11-02 19:30,1\n2026-11-03 08:00,,\n"


def own_history() -> KnownLifetime | None:
    """Return the lifetime of the user's own machines, None where none were given."""
    found: KnownLifetime | None = st.session_state.get(KEY)
    return found


def show_history() -> None:
    """Draw the upload, what was understood, and the curve beside that of all measured machines."""
    st.markdown("#### Your own machines", anchors=False)
    st.markdown(
        ":gray[A CSV with *start*, *stop* (empty: still running) and, if you like, *revoked* (1 or "
        "0). A machine that still runs, or that you stopped, counts for the time it lived. It goes "
        "before what is published, in every spot panel of this session.]"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.download_button("Example", EXAMPLE, "history.csv", "text/csv", on_click="ignore",
                           icon=":material/download:", type="tertiary")  # fmt: skip
    file = st.file_uploader("Start and stop times, CSV", type="csv", key="spot_history_file",
                            max_upload_size=MOST_MB, on_change=_forget)  # fmt: skip
    if file is not None:
        try:
            text = file.getvalue().decode("utf-8", errors="replace")
            st.session_state[KEY] = lifetime_of_history(read_history(text))
        except AdvisorError as error:
            notices.not_understood(error)
    known = own_history()
    if known is None:
        return
    with st.container(border=True, gap="xsmall", key="own_history"):
        st.markdown(f":green[:material/check:] **{plain(known.basis.words)}**")
        day = percent(1 - float(known.lifetime.survival(24 * HOUR_S)))
        st.markdown(f":small[:gray[{day} are taken within 24{NBSP}h; the factor on the hazard is "
                    f"known to ×{np.exp(known.log_sigma):.2f}.]]")  # fmt: skip
        st.plotly_chart(
            draw_survival(known, palette()), theme=None, config=CONFIG, key="own_survival",
            alt="Share of machines still there against hours",
        )  # fmt: skip
        st.button("Forget them", key="forget_history", on_click=_forget, icon=":material/close:")


def _forget() -> None:
    st.session_state.pop(KEY, None)


def draw_survival(known: KnownLifetime, colours: Palette) -> go.Figure:
    """Draw the share of machines that are still there by hour, beside that of all measured ones."""
    figure = go.Figure()
    for name, life, look in (
        ("yours", known.lifetime, {"color": colours.accent, "width": 2.5}),
        ("Google's cloud, 396 machines, 2019", usual_shape(),
         {"color": colours.secondary, "width": 1.5, "dash": "dot"}),
    ):  # fmt: skip
        figure.add_trace(
            go.Scatter(x=HOURS, y=life.survival(HOURS * HOUR_S) * 100, mode="lines", name=name,
                       line=look, hovertemplate="%{y:.0f} % after %{x:.3g} h<extra></extra>")
        )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    legend = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"}
    figure.update_layout(showlegend=True, margin={"t": 40}, legend=legend)
    figure.update_yaxes(range=[0, 104], ticksuffix=f"{NBSP}%")
    figure.update_xaxes(title={"text": "Hours after the start of a machine", "font": {"size": 11}})
    return figure
