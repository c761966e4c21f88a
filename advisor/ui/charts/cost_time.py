"""Cost against time: one dot per plan, the front, the picks, the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go

from advisor.advice.plans import plan_keys
from advisor.core.units import NBSP, hours, interval, number, percent, usd
from advisor.search.constraints import apply
from advisor.search.finish import deadline_probability
from advisor.ui.charts.labels import label_positions
from advisor.ui.charts.style import log_ticks, name_axes, plain_layout
from advisor.ui.theme import MARKET_SYMBOLS, MARKET_TITLES, Palette

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from advisor.advice import Result
    from advisor.search.constraints import Constraints
    from advisor.search.search import Evaluated

# Fewer dots than this keep the chart in SVG and the pointer able to hit one.
MOST_DOTS: Final = 320
PICK_TITLES: Final = {
    "cheapest": "Cheapest", "fastest": "Fastest", "best_value": "Best value", "safest": "Safest",
}  # fmt: skip
HEIGHT: Final = 400

Range = list[float]  # the log10 ends of an axis


@dataclass(frozen=True, slots=True)
class CostTimeData:
    """What is drawn; rows are positions in the table of plans.

    ``inside`` marks dots within all limits; ``labels`` has the text of every picked row.
    """

    rows: np.ndarray
    inside: np.ndarray
    front: np.ndarray
    labels: dict[int, str]
    deadline_h: float | None
    budget_usd: float | None
    within: int
    total: int


def cost_time_data(evaluated: Evaluated, result: Result, limits: Constraints) -> CostTimeData:
    """Choose the dots: every machine and count once, at its lowest price, nearest to the front.

    Plans that only miss the deadline or the budget are shown, outside the limits.
    """
    plans = evaluated.plans
    open_limits = limits.without("deadline_h").without("budget_usd")
    near, _ = apply(plans, open_limits)
    candidates = np.flatnonzero(near)
    kept = _one_per_machine(plans, candidates)
    labels = pick_labels(result.picks)
    must = np.concatenate([result.front, np.array(list(labels), dtype=int)])
    shown = np.union1d(_nearest_to_front(plans, kept, MOST_DOTS), must).astype(int)
    return CostTimeData(
        rows=shown,
        inside=np.isin(shown, result.rows),
        front=result.front,
        labels=labels,
        deadline_h=limits.deadline_h,
        budget_usd=limits.budget_usd,
        within=len(result.rows),
        total=len(candidates),
    )


def pick_labels(picks: Mapping[str, int]) -> dict[int, str]:
    """Return the label of every picked row; picks on one plan share a label."""
    labels: dict[int, str] = {}
    for name, row in picks.items():
        title = PICK_TITLES[name]
        labels[row] = f"{labels[row]}, {title.lower()}" if row in labels else title
    return labels


def _one_per_machine(plans: pd.DataFrame, rows: np.ndarray) -> np.ndarray:
    table = plans.iloc[rows]
    order = np.argsort(table["cost_usd"].to_numpy(), kind="stable")
    keys = table[["instance_type", "machines", "market"]].iloc[order]
    return np.asarray(rows[order[~keys.duplicated().to_numpy()]])


def _nearest_to_front(plans: pd.DataFrame, rows: np.ndarray, most: int) -> np.ndarray:
    """Return up to `most` rows: half nearest to the front, half spread over the rest."""
    if len(rows) <= most:
        return rows
    hour = plans["hours"].to_numpy()[rows]
    cost = plans["cost_usd"].to_numpy()[rows]
    order = np.argsort(hour, kind="stable")
    lowest = np.minimum.accumulate(cost[order])
    excess = np.empty(len(rows))
    excess[order] = np.log(cost[order] / lowest)
    ranked = rows[np.argsort(excess, kind="stable")]
    rest = ranked[most // 2 :]
    spread = rest[np.linspace(0, len(rest) - 1, most - most // 2).astype(int)]
    return np.concatenate([ranked[: most // 2], spread])


def draw_cost_time(evaluated: Evaluated, data: CostTimeData, colours: Palette) -> go.Figure:
    """Draw the dots, the front, the picks with their whiskers, and the limits."""
    table = evaluated.plans.iloc[data.rows]
    x, y = _ranges(evaluated.plans, data)
    figure = go.Figure()
    for inside, opacity, size in ((False, 0.26, 6.5), (True, 0.7, 7.0)):
        figure.add_trace(_dots(table[data.inside == inside], colours, opacity, size, data))
    if data.labels:
        figure.add_trace(_front(evaluated.plans.iloc[data.front], colours))
        picked = evaluated.plans.iloc[list(data.labels)]
        figure.add_trace(_picks(picked, colours, data, _positions(picked, data, (x, y))))
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_xaxes(type="log", range=x, **log_ticks(x, lambda v: f"{v:,g}{NBSP}h"))
    figure.update_yaxes(type="log", range=y, **log_ticks(y, usd))
    _limits(figure, data, x, y, colours)
    name_axes(figure, "Time to finish, h", "Cost of the finished job, USD", colours)
    return figure


def _dots(
    table: pd.DataFrame, colours: Palette, opacity: float, size: float, data: CostTimeData
) -> go.Scatter:
    families = table["family"].astype(str)
    return go.Scatter(
        x=table["hours"],
        y=table["cost_usd"],
        mode="markers",
        marker={
            "color": [colours.family(name) for name in families],
            "symbol": [MARKET_SYMBOLS[str(market)] for market in table["market"]],
            "size": size,
            "opacity": opacity,
        },
        customdata=plan_keys(table),
        hovertext=hover_texts(table, data.deadline_h),
        hoverinfo="text",
        showlegend=False,
    )


def hover_texts(table: pd.DataFrame, deadline_h: float | None) -> list[str]:
    """Return what a pointer on a plan says: machines, cost and time with intervals, chance."""
    chance = deadline_probability(table, deadline_h) if deadline_h is not None else None
    texts = []
    for index, row in enumerate(table.to_dict("records")):
        cost = interval(number(row["cost_low_usd"]), number(row["cost_high_usd"]))
        bounds = (hours(row[name], like=row["hours"]) for name in ("hours_low", "hours_high"))
        text = (
            f"<b>{row['machines']} × {row['instance_type']}</b>, {row['region']}, "
            f"{MARKET_TITLES[row['market']].lower()}<br>{usd(row['cost_usd'])}  {cost}<br>"
            f"{hours(row['hours'])}{NBSP}h  {interval(*bounds)}"
        )
        if chance is not None and deadline_h is not None:
            text += f"<br>Done within {hours(deadline_h)}{NBSP}h: {percent(float(chance[index]))}"
        texts.append(text)
    return texts


def _front(table: pd.DataFrame, colours: Palette) -> go.Scatter:
    return go.Scatter(
        x=table["hours"], y=table["cost_usd"], mode="lines",
        line={"color": colours.text, "width": 1.5}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip


def _picks(
    table: pd.DataFrame, colours: Palette, data: CostTimeData, positions: list[str]
) -> go.Scatter:
    whisker = {"color": colours.text, "thickness": 1.5, "width": 4, "symmetric": False}
    return go.Scatter(
        x=table["hours"],
        y=table["cost_usd"],
        mode="markers+text",
        text=[f"<b>{label}</b>" for label in data.labels.values()],
        textposition=positions,
        textfont={"color": colours.text, "size": 12},
        marker={
            "color": [colours.family(str(name)) for name in table["family"]],
            "symbol": [MARKET_SYMBOLS[str(market)] for market in table["market"]],
            "size": 13,
            "line": {"color": colours.text, "width": 2},
        },
        error_x=whisker | _whiskers(table, "hours", "hours_low", "hours_high"),
        error_y=whisker | _whiskers(table, "cost_usd", "cost_low_usd", "cost_high_usd"),
        customdata=plan_keys(table),
        hovertext=hover_texts(table, data.deadline_h),
        hoverinfo="text",
        showlegend=False,
    )


def _whiskers(table: pd.DataFrame, value: str, low: str, high: str) -> dict[str, Any]:
    return {"array": table[high] - table[value], "arrayminus": table[value] - table[low]}


def _positions(table: pd.DataFrame, data: CostTimeData, ranges: tuple[Range, Range]) -> list[str]:
    x, y = (
        (np.log10(table[name].to_numpy()) - low) / (high - low)
        for name, (low, high) in zip(("hours", "cost_usd"), ranges, strict=True)
    )
    return label_positions(x, y, list(data.labels.values()))


def _ranges(plans: pd.DataFrame, data: CostTimeData) -> tuple[Range, Range]:
    """Return the log10 ranges of the axes: all picks' whiskers and most plans fit."""
    picked = plans.iloc[list(data.labels)]
    dots = plans.iloc[data.rows]
    found = []
    for value, low, high in (
        ("hours", "hours_low", "hours_high"),
        ("cost_usd", "cost_low_usd", "cost_high_usd"),
    ):
        limit = data.deadline_h if value == "hours" else data.budget_usd
        ends = [] if limit is None or len(picked) else [limit]
        bottom = np.log10(min([*picked[low], *ends, dots[value].quantile(0.01)]))
        top = np.log10(max([*picked[high], *ends, dots[value].quantile(0.97)]))
        margin = 0.04 * (top - bottom)
        found.append([float(bottom - margin), float(top + margin)])
    return found[0], found[1]


def _limits(figure: go.Figure, data: CostTimeData, x: Range, y: Range, colours: Palette) -> None:
    dash = {"color": colours.secondary, "width": 1, "dash": "dash"}
    shade = {"fillcolor": colours.shade, "line_width": 0, "layer": "below"}
    if data.deadline_h is not None and np.log10(data.deadline_h) < x[1]:
        figure.add_vrect(x0=data.deadline_h, x1=10 ** x[1], **shade)
        figure.add_vline(x=data.deadline_h, line=dash)
        figure.add_annotation(x=np.log10(data.deadline_h), y=1, yref="paper", xanchor="left",
                              yanchor="top", text=f" Deadline {hours(data.deadline_h)}{NBSP}h",
                              showarrow=False, font={"color": colours.secondary})  # fmt: skip
    if data.budget_usd is not None and y[0] < np.log10(data.budget_usd) < y[1]:
        figure.add_hrect(y0=data.budget_usd, y1=10 ** y[1], **shade)
        figure.add_hline(y=data.budget_usd, line=dash)
        figure.add_annotation(y=np.log10(data.budget_usd), x=1, xref="paper", xanchor="right",
                              yanchor="bottom", text=f"Budget {usd(data.budget_usd)}",
                              showarrow=False, font={"color": colours.secondary})  # fmt: skip
