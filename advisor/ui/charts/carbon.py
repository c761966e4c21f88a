"""Emissions against time: the plans of the cost chart whose grid the user's table knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from advisor.advice.plans import plan_keys
from advisor.core.units import NBSP, number
from advisor.search.facts import carbon_kg
from advisor.search.pareto import pareto_front
from advisor.ui.charts.cost_time import hover_texts
from advisor.ui.charts.style import log_ticks, name_axes, plain_layout
from advisor.ui.theme import MARKET_SYMBOLS, Palette

if TYPE_CHECKING:
    import pandas as pd

    from advisor.ui.charts.cost_time import CostTimeData

HEIGHT: Final = 400
MARGIN: Final = 0.05
Range = list[float]


@dataclass(frozen=True, slots=True)
class CarbonData:
    """What is drawn: rows of the table of plans, their emissions [kg CO2e], and the front.

    ``front`` are positions in ``rows`` within the limits that no other beats in both.
    """

    rows: np.ndarray
    kg: np.ndarray
    inside: np.ndarray
    front: np.ndarray


def carbon_known(plans: pd.DataFrame) -> bool:
    """Return whether the emissions of any plan are known."""
    return bool(plans["carbon_kg_per_h"].notna().any())


def carbon_data(plans: pd.DataFrame, data: CostTimeData) -> CarbonData:
    """Return the dots of the cost chart whose emissions are known and not nothing."""
    kg = carbon_kg(plans.iloc[data.rows])
    known = np.nan_to_num(kg) > 0
    rows, kg, inside = data.rows[known], kg[known], data.inside[known]
    within = np.flatnonzero(inside)
    front = within[pareto_front(plans["hours"].to_numpy()[rows[within]], kg[within])]
    return CarbonData(rows, kg, inside, front)


def draw_carbon(
    plans: pd.DataFrame, data: CarbonData, deadline_h: float | None, colours: Palette
) -> go.Figure:
    """Draw the dots, coloured and shaped as in the cost chart, and the front."""
    table = plans.iloc[data.rows]
    x, y = _range(table["hours"].to_numpy()), _range(data.kg)
    figure = go.Figure(
        go.Scatter(
            x=table["hours"],
            y=data.kg,
            mode="markers",
            marker={
                "color": [colours.family(str(name)) for name in table["family"]],
                "symbol": [MARKET_SYMBOLS[str(market)] for market in table["market"]],
                "size": 8,
                "opacity": np.where(data.inside, 0.75, 0.26),
            },
            customdata=plan_keys(table),
            hovertext=[
                f"{text}<br>{number(kg)}{NBSP}kg CO2e"
                for text, kg in zip(hover_texts(table, deadline_h), data.kg, strict=True)
            ],
            hoverinfo="text",
            showlegend=False,
        )
    )
    figure.add_trace(
        go.Scatter(
            x=table["hours"].iloc[data.front], y=data.kg[data.front], mode="lines",
            line={"color": colours.text, "width": 1.5}, hoverinfo="skip", showlegend=False,
        )
    )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_xaxes(type="log", range=x, **log_ticks(x, lambda v: f"{v:,g}{NBSP}h"))
    figure.update_yaxes(type="log", range=y, **log_ticks(y, lambda v: f"{v:,g}{NBSP}kg"))
    name_axes(figure, "Time to finish, h",
              "Emissions of the job, kg CO2e (accelerators at their design power)",
              colours)  # fmt: skip
    return figure


def _range(values: np.ndarray) -> Range:
    """Return the log10 ends of an axis with room around the values."""
    low, high = (float(np.log10(value)) for value in (values.min(), values.max()))
    room = MARGIN * max(high - low, 1.0)
    return [low - room, high + room]
