"""The tornado: what each assumption moves the bill by over its 80 % range, widest on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go

from advisor.advice.tornado import range_words
from advisor.core.units import interval, usd
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    from advisor.domain import Choice
    from advisor.ui.theme import Palette

ROW_HEIGHT: Final = 38
ROOM: Final = 0.12


@dataclass(frozen=True, slots=True)
class TornadoRow:
    """An assumption with the bill at both ends of its range [USD], and both in words."""

    title: str
    low_usd: float
    high_usd: float
    text: str


@dataclass(frozen=True, slots=True)
class TornadoData:
    """Rows, widest first, about the bill as predicted; the rival's bill where it lies near."""

    rows: tuple[TornadoRow, ...]
    bill_usd: float
    rival_usd: float | None

    @property
    def ends_usd(self) -> tuple[float, float]:
        """Ends of the axis."""
        ends = [end for row in self.rows for end in (row.low_usd, row.high_usd)]
        rival = [] if self.rival_usd is None else [self.rival_usd]
        shown = [*ends, self.bill_usd, *rival]
        low, high = min(shown), max(shown)
        room = ROOM * (high - low) or 0.05 * max(high, 0.01)
        return low - room, high + room

    @property
    def alt(self) -> str:
        """The rows in words."""
        return "What moves the bill most: " + "; ".join(f"{r.title}, {r.text}" for r in self.rows)


def tornado_data(choice: Choice) -> TornadoData:
    """Return what is drawn of a choice."""
    bill = choice.chosen.cost_usd
    rows = tuple(
        TornadoRow(
            title=swing.assumption.capitalize(),
            low_usd=swing.low_usd,
            high_usd=swing.high_usd,
            text=f"{range_words(swing)}: {interval(usd(swing.low_usd), usd(swing.high_usd))}",
        )
        for swing in choice.swings
    )
    far = choice.rival is None or not 0.4 * bill <= choice.rival.cost_usd <= 2.5 * bill
    return TornadoData(rows, bill, None if far or choice.rival is None else choice.rival.cost_usd)


def draw_tornado(data: TornadoData, colours: Palette) -> go.Figure:
    """Draw one bar per assumption across the bill as predicted."""
    titles = [row.title for row in data.rows]
    figure = go.Figure(
        go.Bar(
            base=[min(row.low_usd, row.high_usd) for row in data.rows],
            x=[abs(row.high_usd - row.low_usd) for row in data.rows],
            y=titles, orientation="h", marker={"color": colours.accent},
            hovertext=[f"{row.title}: {row.text}" for row in data.rows], hoverinfo="text",
        )
    )  # fmt: skip
    figure.update_layout(plain_layout(colours, ROW_HEIGHT * len(data.rows) + 72))
    figure.update_layout(bargap=0.4)
    figure.update_xaxes(range=list(data.ends_usd), tickprefix="$", nticks=5,
                        title={"text": "Bill, USD", "font": {"size": 11}})  # fmt: skip
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category",
                        tickfont={"size": 12, "color": colours.text})  # fmt: skip
    _line(figure, data.bill_usd, f"as predicted {usd(data.bill_usd)}", colours.text, "solid",
          left=data.rival_usd is not None and data.rival_usd >= data.bill_usd)  # fmt: skip
    if data.rival_usd is not None:
        _line(figure, data.rival_usd, f"rival {usd(data.rival_usd)}", colours.secondary, "dash",
              left=data.rival_usd < data.bill_usd)  # fmt: skip
    return figure


def _line(
    figure: go.Figure, x: float, text: str, colour: str, dash: str, *, left: bool
) -> None:  # fmt: skip
    figure.add_vline(x=x, line={"color": colour, "width": 1, "dash": dash})
    figure.add_annotation(x=x, y=1, yref="paper", yanchor="bottom", showarrow=False, text=text,
                          xanchor="right" if left else "left",
                          font={"size": 11, "color": colour})  # fmt: skip
