"""Predicted against measured: one dot per run that was held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from advisor.core.units import NBSP, duration, interval
from advisor.ui.charts.style import log_ticks, name_axes, plain_layout
from advisor.ui.theme import FAMILIES

if TYPE_CHECKING:
    import pandas as pd

    from advisor.ui.theme import Palette

MOST_DOTS: Final = 900  # more would only cover each other, and slow the browser
HEIGHT: Final = 420
FACTOR: Final = 2.0  # dots inside the band are wrong by less


@dataclass(frozen=True, slots=True)
class ScatterData:
    """Runs that are drawn, of how many, and the log10 range that both axes have.

    ``dots`` has the columns of the board and ``family_colour``, the family it is drawn as.
    """

    dots: pd.DataFrame
    total: int
    range: tuple[float, float]

    @property
    def families(self) -> list[str]:
        """The families that are drawn, in the order of the legend."""
        shown = set(self.dots["family_colour"])
        return [name for name in FAMILIES if name in shown]


def scatter_data(points: pd.DataFrame) -> ScatterData:
    """Choose the dots: all runs, or an even random sample of many.

    Parameters
    ----------
    points : DataFrame
        Predictions of a board with the ``hardware`` of each run.
    """
    dots = points if len(points) <= MOST_DOTS else points.sample(MOST_DOTS, random_state=0)
    known = dots["hardware"].where(dots["hardware"].isin(list(FAMILIES)), "Other")
    values = np.log10(points[["predicted_s", "measured_s"]].to_numpy(float))
    low, high = float(values.min()), float(values.max())
    margin = 0.03 * (high - low) + 0.01
    return ScatterData(
        dots=dots.assign(family_colour=known).sort_index(),
        total=len(points),
        range=(low - margin, high + margin),
    )


def draw_scatter(data: ScatterData, colours: Palette) -> go.Figure:
    """Draw the dots, the line of perfect prediction and the band of a factor of two."""
    ends = [10 ** data.range[0], 10 ** data.range[1]]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[*ends, *reversed(ends)],
            y=[FACTOR * ends[0], FACTOR * ends[1], ends[1] / FACTOR, ends[0] / FACTOR],
            mode="lines", fill="toself", fillcolor=colours.grid, line={"width": 0},
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(x=ends, y=ends, mode="lines", hoverinfo="skip",
                   line={"color": colours.secondary, "width": 1, "dash": "dash"})
    )  # fmt: skip
    dots = data.dots
    figure.add_trace(
        go.Scatter(
            x=dots["measured_s"],
            y=dots["predicted_s"],
            mode="markers",
            marker={
                "color": [colours.family(name) for name in dots["family_colour"]],
                "size": 5.5,
                "opacity": 0.65,
            },
            hovertext=hover_texts(dots),
            hoverinfo="text",
        )
    )
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(margin={"b": 52})
    ticks = log_ticks(data.range, lambda value: f"{value:,g}{NBSP}s")
    figure.update_xaxes(type="log", range=data.range, **ticks)
    figure.update_yaxes(type="log", range=data.range, **ticks)
    name_axes(figure, "Measured step", "Predicted step", colours)
    return figure


def hover_texts(dots: pd.DataFrame) -> list[str]:
    """Return what a pointer on a dot says: model, accelerators, both steps, the source."""
    return [
        f"<b>{_safe(row['model'])}</b>, {row['accelerators']:,.0f} × {_safe(row['accelerator'])}"
        f"<br>measured {duration(row['measured_s'])}, predicted {duration(row['predicted_s'])} "
        f"({interval(duration(row['low_s']), duration(row['high_s']))})"
        f"<br>{row['group']}; {_safe(row['source'])}"
        for row in dots.to_dict("records")
    ]


def _safe(text: object) -> str:
    """Escape what the chart would read as markup."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;")
