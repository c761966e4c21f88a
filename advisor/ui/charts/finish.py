"""When the job finishes: the chance to be done within so many hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go
from scipy.special import ndtr

from advisor.core.units import NBSP, hours, percent
from advisor.predictor.arrays import FloatArray
from advisor.search.finish import deadline_probability, hours_at_chance
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    import pandas as pd

    from advisor.ui.theme import Palette

POINTS: Final = 81
WIDTH: Final = 3.2
HEIGHT: Final = 300


@dataclass(frozen=True, slots=True)
class FinishData:
    """Hours after the start, the chance to be done by then, the deadline and its chance."""

    hours: FloatArray
    chance: FloatArray
    deadline_h: float | None
    deadline_chance: float | None


def finish_data(plan: pd.Series[Any], deadline_h: float | None) -> FinishData:
    """Return the distribution of the finish of one row of the table of plans."""
    chance = ndtr(np.linspace(-WIDTH, WIDTH, POINTS))
    one = plan.to_frame().T.infer_objects()
    reached = None if deadline_h is None else float(deadline_probability(one, deadline_h)[0])
    return FinishData(
        hours=hours_at_chance(one, chance),
        chance=np.asarray(chance),
        deadline_h=deadline_h,
        deadline_chance=reached,
    )


def draw_finish(data: FinishData, colours: Palette) -> go.Figure:
    """Draw the curve, and the deadline where it lies near it."""
    figure = go.Figure(
        go.Scatter(
            x=data.hours, y=data.chance * 100, mode="lines", fill="tozeroy",
            line={"color": colours.accent, "width": 2}, fillcolor=translucent(colours.accent),
            hovertemplate="%{y:.0f} % within %{x:.3g} h<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_yaxes(range=[0, 104], ticksuffix=f"{NBSP}%")
    figure.update_xaxes(title={"text": "Hours after the start", "font": {"size": 11}})
    near = data.deadline_h is not None and data.deadline_h < 2 * data.hours[-1]
    if near and data.deadline_h is not None and data.deadline_chance is not None:
        figure.add_vline(x=data.deadline_h,
                         line={"color": colours.secondary, "width": 1, "dash": "dash"})  # fmt: skip
        figure.add_annotation(x=data.deadline_h, y=data.deadline_chance * 100, showarrow=False,
                              xanchor="left", yanchor="bottom",
                              text=f" <b>{percent(data.deadline_chance)}</b> by "
                                   f"{hours(data.deadline_h)}{NBSP}h")  # fmt: skip
    return figure


def translucent(colour: str) -> str:
    """Return a colour for an area behind lines."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"
