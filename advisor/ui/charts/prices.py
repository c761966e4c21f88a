"""Price of an accelerator-hour by accelerator: from the cheapest to the dearest offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from advisor.core.units import usd
from advisor.ui.charts.style import log_ticks, plain_layout
from advisor.ui.theme import MARKET_SYMBOLS, MARKET_TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from advisor.ui.theme import Palette

MOST: Final = 20
ROW_PX: Final = 24
FRAME_PX: Final = 72
KIND: Final = ["accelerator", "market"]


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Prices of one accelerator in one market [USD/accelerator-h]; `where` has the lowest."""

    accelerator: str
    family: str
    market: str
    low: float
    median: float
    high: float
    offers: int
    where: str


def price_ranges(table: pd.DataFrame, most: int = MOST) -> list[PriceRange]:
    """Return the ranges of trusted prices, the strongest accelerators first.

    Parameters
    ----------
    table : DataFrame
        Rows of `advisor.catalog.prices.price_table`.
    most : int
        Accelerators to keep: those of the highest bf16 peak; unknown peaks come last.
    """
    trusted = table[table["rankable"]]
    peak = trusted.groupby("accelerator")["peak_bf16_tflops"].first().fillna(0.0)
    order = peak.reset_index().sort_values(["peak_bf16_tflops", "accelerator"],
                                           ascending=[False, True])  # fmt: skip
    kept = order["accelerator"].head(most).tolist()
    rows = trusted[trusted["accelerator"].isin(kept)]
    ranges = []
    for (accelerator, market), group in rows.groupby(KIND, observed=True):
        price = group["usd_per_accelerator_h"]
        lowest = group.iloc[int(price.to_numpy().argmin())]
        ranges.append(
            PriceRange(
                accelerator=str(accelerator), family=str(lowest["family"]), market=str(market),
                low=float(price.min()), median=float(price.median()), high=float(price.max()),
                offers=len(group), where=f"{lowest['instance_type']}, {lowest['region']}",
            )
        )  # fmt: skip
    return sorted(ranges, key=lambda one: (kept.index(one.accelerator), one.market))


def draw_prices(ranges: Sequence[PriceRange], colours: Palette) -> go.Figure:
    """Draw one line of each accelerator and market, and a mark at its lowest price."""
    names = list(dict.fromkeys(one.accelerator for one in ranges))
    figure = go.Figure()
    for family in dict.fromkeys(one.family for one in ranges):
        figure.add_trace(_spans([one for one in ranges if one.family == family], colours))
    for market in dict.fromkeys(one.market for one in ranges):
        figure.add_trace(_marks([one for one in ranges if one.market == market], colours))
    figure.update_layout(plain_layout(colours, FRAME_PX + ROW_PX * len(names)))
    ends = np.log10([min(one.low for one in ranges), max(one.high for one in ranges)])
    span = [float(ends[0]) - 0.06, float(ends[1]) + 0.06]
    ticks = log_ticks(span, lambda price: f"${price:g}")
    figure.update_xaxes(type="log", range=span, tickangle=0, **ticks)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1])
    figure.add_annotation(text="USD per accelerator-hour", x=1, xref="paper", y=0, yref="paper",
                          xanchor="right", yanchor="top", yshift=-24, showarrow=False,
                          font={"color": colours.secondary, "size": 11})  # fmt: skip
    return figure


def _spans(ranges: Sequence[PriceRange], colours: Palette) -> go.Scatter:
    """Draw one family from lowest to highest prices; a gap parts the lines of one trace."""
    x: list[float | None] = []
    y: list[str | None] = []
    for one in ranges:
        x += [one.low, one.high, None]
        y += [one.accelerator, one.accelerator, None]
    colour = colours.family(ranges[0].family)
    return go.Scatter(x=x, y=y, mode="lines", line={"color": colour, "width": 4}, opacity=0.3,
                      hoverinfo="skip", showlegend=False)  # fmt: skip


def _marks(ranges: Sequence[PriceRange], colours: Palette) -> go.Scatter:
    return go.Scatter(
        x=[one.low for one in ranges], y=[one.accelerator for one in ranges], mode="markers",
        marker={"color": [colours.family(one.family) for one in ranges], "size": 9,
                "symbol": MARKET_SYMBOLS[ranges[0].market]},
        hovertext=[hover_text(one) for one in ranges], hoverinfo="text", showlegend=False,
    )  # fmt: skip


def hover_text(one: PriceRange) -> str:
    """Return what a pointer on a mark says."""
    return (
        f"<b>{one.accelerator}</b>, {MARKET_TITLES[one.market].lower()}<br>from {usd(one.low)}: "
        f"{one.where}<br>median {usd(one.median)}, up to {usd(one.high)}, {one.offers:,} prices"
    )
