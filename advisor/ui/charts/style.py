"""What all charts look like."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import plotly.graph_objects as go

    from advisor.ui.theme import Palette

CONFIG: Final = {"displayModeBar": False, "scrollZoom": False}
MOST_TICKS: Final = 9


def plain_layout(colours: Palette, height: int) -> dict[str, Any]:
    """Return a layout without frame, legend or title, transparent on the page."""
    axis = {
        "gridcolor": colours.grid, "zeroline": False, "linecolor": colours.border,
        "tickfont": {"size": 11, "color": colours.secondary}, "ticklabelstandoff": 6,
        "fixedrange": True,
    }  # fmt: skip
    return {
        "height": height,
        "margin": {"l": 4, "r": 4, "t": 24, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": colours.text, "size": 12},
        "hoverlabel": {"bgcolor": colours.page, "bordercolor": colours.border, "align": "left",
                       "font": {"color": colours.text, "size": 12}},
        "dragmode": False,
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": axis,
        "yaxis": axis | {"automargin": True},
    }  # fmt: skip


def name_axes(figure: go.Figure, x: str, y: str, colours: Palette) -> None:
    """Write what the axes show at their ends, where it takes no room from the chart."""
    font = {"color": colours.secondary, "size": 11}
    figure.add_annotation(text=y, x=0, xref="paper", y=1, yref="paper", xanchor="left",
                          yanchor="bottom", yshift=4, showarrow=False, font=font)  # fmt: skip
    figure.add_annotation(text=x, x=1, xref="paper", y=0, yref="paper", xanchor="right",
                          yanchor="top", yshift=-27, showarrow=False, font=font)  # fmt: skip


def log_ticks(log_range: Sequence[float], text: Callable[[float], str]) -> dict[str, Any]:
    """Return tick positions at 1, 2, 5 of every decade within a log10 range, and their texts."""
    low, high = log_range
    decades = range(math.floor(low), math.ceil(high) + 1)
    steps = (1, 2, 5) if high - low < MOST_TICKS / 3 else (1,)
    values = [step * 10.0**decade for decade in decades for step in steps]
    shown = [value for value in values if low <= math.log10(value) <= high]
    return {"tickvals": shown, "ticktext": [text(value) for value in shown]}
