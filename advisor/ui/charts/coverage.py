"""Coverage against nominal: the share of measurements inside each board's intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from advisor.advice.board_scores import chance_range
from advisor.ui.charts.style import log_ticks, name_axes, plain_layout

if TYPE_CHECKING:
    import pandas as pd

    from advisor.ui.theme import Palette

HEIGHT: Final = 340


def draw_coverage(coverage: pd.DataFrame, nominal: int, colours: Palette) -> go.Figure:
    """Draw one dot per board over its runs, within the funnel that chance alone explains.

    Parameters
    ----------
    coverage : DataFrame
        As `coverage_against_nominal` returns it, of this level.
    nominal : int
        What the intervals promise to hold [%].
    """
    least, most = coverage["runs"].min() / 1.3, coverage["runs"].max() * 1.3
    ends = (math.log10(least), math.log10(most))
    runs = np.unique(np.geomspace(least, most, 120).round())
    low, high = chance_range(nominal, runs)
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[*runs, *runs[::-1]], y=[*low, *high[::-1]], mode="lines", fill="toself",
            fillcolor=colours.grid, line={"width": 0}, hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_hline(y=nominal, line={"color": colours.secondary, "width": 1, "dash": "dash"})
    figure.add_trace(
        go.Scatter(
            x=coverage["runs"], y=coverage["covered"], mode="markers",
            marker={"size": 8, "color": colours.accent},
            hovertext=hover_texts(coverage, nominal), hoverinfo="text",
        )
    )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(margin={"b": 52})
    figure.update_xaxes(type="log", range=ends, **log_ticks(ends, lambda n: f"{n:,g}"))
    lowest = min(coverage["covered"].min(), nominal - 10)
    figure.update_yaxes(range=[lowest - 3, 101.5], ticksuffix=" %")
    name_axes(figure, "Measurements held out", "Inside the interval", colours)
    return figure


def hover_texts(coverage: pd.DataFrame, nominal: int) -> list[str]:
    """Return what a pointer on a dot says: the board, its coverage and the range of chance."""
    return [
        f"<b>{row['title']}</b><br>held out: {row['held_out']}"
        f"<br>{row['covered']:.1f} % of {row['runs']:,.0f} inside the {nominal} % interval"
        f"<br>chance alone: {row['low']:.1f}–{row['high']:.1f} %"
        for row in coverage.to_dict("records")
    ]
