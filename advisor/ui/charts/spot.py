"""Spot machines: when a plan finishes under a policy, and where machines were taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from advisor.core.units import NBSP, hours, percent
from advisor.transient.places import published_bands, revoked_by_age, revoked_by_hour_of_day
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray
    from advisor.ui.theme import Palette

POINTS: Final = 121
HEIGHT: Final = 300
ROW_HEIGHT: Final = 26
WIDEST: Final = 0.995  # the last runs of many do not stretch the axis


@dataclass(frozen=True, slots=True)
class Curves:
    """Chance to be done by so many hours, of each name; the deadline, and that of the first."""

    hours: FloatArray
    chance: dict[str, FloatArray]
    deadline_h: float | None
    deadline_chance: float | None


def curves_of(finished: dict[str, FloatArray], deadline_h: float | None) -> Curves:
    """Return the share of runs that are finished by each hour.

    Parameters
    ----------
    finished : dict
        Hours that simulated runs took, shortest first, by name.
    deadline_h : float, optional
        Shown where it lies near the runs.
    """
    last = max(float(np.quantile(runs, WIDEST)) for runs in finished.values())
    if deadline_h is not None and deadline_h < 2 * last:
        last = max(last, 1.05 * deadline_h)
    grid = np.linspace(0.0, last, POINTS)
    chance = {
        name: np.searchsorted(runs, grid, side="right") / len(runs)
        for name, runs in finished.items()
    }
    met = None
    if deadline_h is not None:
        met = float((next(iter(finished.values())) <= deadline_h).mean())
    return Curves(grid, chance, deadline_h, met)


def draw_curves(curves: Curves, colours: Palette) -> go.Figure:
    """Draw the first curve in full, the others as a comparison, and the deadline."""
    figure = go.Figure()
    looks = [{"color": colours.accent, "width": 2.5},
             {"color": colours.secondary, "width": 1.5, "dash": "dot"}]  # fmt: skip
    for place, (name, chance) in enumerate(curves.chance.items()):
        figure.add_trace(
            go.Scatter(
                x=curves.hours, y=chance * 100, mode="lines", name=name,
                line=looks[min(place, 1)],
                hovertemplate=f"{name}: %{{y:.0f}} % within %{{x:.3g}} h<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        margin={"t": 40},
    )
    figure.update_yaxes(range=[0, 104], ticksuffix=f"{NBSP}%")
    figure.update_xaxes(title={"text": "Hours after the start", "font": {"size": 11}})
    at = curves.deadline_chance
    if curves.deadline_h is not None and at is not None and curves.deadline_h <= curves.hours[-1]:
        figure.add_vline(x=curves.deadline_h,
                         line={"color": colours.secondary, "width": 1, "dash": "dash"})  # fmt: skip
        figure.add_annotation(
            x=curves.deadline_h,
            y=at * 100,
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            text=f"<b>{percent(at)}</b> by {hours(curves.deadline_h)}{NBSP}h ",
        )
    return figure


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of shares or counts; NaN where nothing was measured, and what each cell says."""

    cells: pd.DataFrame
    says: pd.DataFrame
    across: str
    unit: str
    note: str


def by_age() -> HeatMap:
    """Return the share of machines that were taken in each hour of their age, GPU by region."""
    frame = revoked_by_age()
    place = frame["gpu"] + " " + frame["region"] + ", " + frame["machines"].astype(str)
    says = [
        f"{row['gpu']}, {row['region']}, hour {row['hour'] + 1} of its age: {row['revoked']} of "
        f"{row['alive']} machines taken, {row['year']}"
        for row in frame.to_dict("records")
    ]
    frame = frame.assign(place=place, says=says, hour=frame["hour"] + 1)
    machines = int(frame.drop_duplicates("place")["machines"].sum())
    return HeatMap(
        _wide(frame, "share") * 100,
        _wide(frame, "says"),
        "Hour of a machine's age",
        "% of those alive",
        f"Google's preemptible machines, {frame['year'].iloc[0]}, {machines} machines "
        "(cake-lab/CM-DARE); their number beside each region. Groups of 30 or 48, launched in "
        "batches: the ranks of regions are weak. No other region, no GPU of today was measured.",
    )


def by_hour_of_day() -> HeatMap:
    """Return the machines that were taken in each hour of the day, by GPU alone."""
    frame = revoked_by_hour_of_day()
    place = frame["gpu"] + ", " + frame["machines"].astype(str)
    says = [
        f"{row['gpu']}, {row['hour']}:00 to {row['hour'] + 1}:00: {row['revoked']} machines taken "
        f"of {row['machines']} watched, {row['year']}"
        for row in frame.to_dict("records")
    ]
    frame = frame.assign(place=place, says=says)
    return HeatMap(
        _wide(frame, "revoked"),
        _wide(frame, "says"),
        "Hour of the day",
        "machines",
        f"Google's preemptible machines, {frame['year'].iloc[0]} (cake-lab/CM-DARE); the "
        "machines watched beside each GPU. Counts, not "
        "rates: by region they were not told, nor the time zone, nor how many ran at each hour.",
    )


def by_band(catalog: Catalog) -> HeatMap:
    """Return the published upper bound of monthly interruptions, accelerator by region."""
    frame = published_bands(catalog)
    says = [
        f"{row['accelerator']}, {row['region']}: {row['low'] * 100:.0f}–{row['high'] * 100:.0f} % "
        f"a month over {row['types']} machine types, 2025"
        for row in frame.to_dict("records")
    ]
    frame = frame.assign(place=frame["accelerator"], says=says, hour=frame["region"])
    return HeatMap(
        _wide(frame, "high") * 100,
        _wide(frame, "says"),
        "",
        "%, upper bound",
        "AWS Spot Instance Advisor, 2025: the band of the share of machines interrupted in a month "
        "(above 20 % it has no upper bound). Hours are not published; n is not published. Blank: "
        "not offered or not published. Azure and Google publish none.",
    )


def _wide(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return one row a place and one column an hour, places in their order."""
    wide = frame.set_index(["place", "hour"])[value].unstack()  # noqa: PD010 - no aggregation
    return wide.loc[list(dict.fromkeys(frame["place"]))]


def draw_heat_map(data: HeatMap, colours: Palette) -> go.Figure:
    """Draw the cells, darker where more were taken; blank where nothing is known."""
    values = data.cells.to_numpy(float)
    figure = go.Figure(
        go.Heatmap(
            z=values, x=[str(name) for name in data.cells.columns], y=list(data.cells.index),
            colorscale=[[0.0, colours.grid], [1.0, colours.accent]], xgap=1, ygap=1,
            text=data.says.fillna("").to_numpy(), hovertemplate="%{text}<extra></extra>",
            hoverongaps=False, zmin=0, zmax=float(np.nanmax(values)),
            colorbar={"title": {"text": data.unit, "side": "top", "font": {"size": 11}},
                      "thickness": 8, "outlinewidth": 0, "tickfont": {"size": 11},
                      "orientation": "h", "x": 0, "xanchor": "left", "len": 0.6, "y": 1.0,
                      "yanchor": "bottom"},
        )
    )  # fmt: skip
    height = 130 + ROW_HEIGHT * len(data.cells) + (60 if not data.across else 0)
    figure.update_layout(plain_layout(colours, height))
    figure.update_layout(margin={"t": 72})
    figure.update_yaxes(autorange="reversed", type="category", automargin=True, showgrid=False)
    figure.update_xaxes(
        type="category", automargin=True, showgrid=False, tickangle=0 if data.across else -60,
        title={"text": data.across, "font": {"size": 11}},
    )  # fmt: skip
    return figure
