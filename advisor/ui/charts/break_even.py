"""The break-even: two bills against an uncertain quantity of one plan, and where they cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go

from advisor.advice.choice_words import crossing_words, option_words
from advisor.core.units import NBSP, usd
from advisor.ui.charts.finish import translucent
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    from advisor.domain import BreakEven, Choice
    from advisor.ui.theme import Palette

HEIGHT: Final = 262


@dataclass(frozen=True, slots=True)
class BreakEvenData:
    """Bills [USD] against the change of a quantity [%], its 80 % range, and the crossing [%]."""

    title: str
    change_pct: tuple[float, ...]
    chosen_usd: tuple[float, ...]
    rival_usd: float
    range_pct: tuple[float, float]
    crossing_pct: float | None
    names: tuple[str, str]
    crossing: str

    @property
    def alt(self) -> str:
        """The chart in words."""
        return (
            f"Bill of {self.names[0]} against its {self.title.lower()}, and that of "
            f"{self.names[1]}: {self.crossing}"
        )


def break_even_data(choice: Choice, of: BreakEven) -> BreakEvenData:
    """Return what is drawn of one uncertain quantity of a choice that has a rival."""
    rival = choice.rival or choice.chosen
    return BreakEvenData(
        title=of.assumption.capitalize(),
        change_pct=tuple(100 * (factor - 1) for factor in of.factor),
        chosen_usd=of.chosen_usd,
        rival_usd=of.rival_usd,
        range_pct=(100 * (of.low - 1), 100 * (of.high - 1)),
        crossing_pct=None if of.crossing is None else 100 * (of.crossing - 1),
        names=(option_words(choice.chosen), option_words(rival)),
        crossing=crossing_words(of.crossing),
    )


def draw_break_even(data: BreakEvenData, colours: Palette) -> go.Figure:
    """Draw both bills, the range as a band, and a dot where they are equal."""
    ends = [data.change_pct[0], data.change_pct[-1]]
    hover = f"%{{x:+.0f}}{NBSP}%: $%{{y:,.4g}}<extra></extra>"
    figure = go.Figure()
    figure.add_vrect(x0=data.range_pct[0], x1=data.range_pct[1], line_width=0, layer="below",
                     fillcolor=translucent(colours.accent))  # fmt: skip
    figure.add_trace(
        go.Scatter(x=ends, y=[data.rival_usd] * 2, mode="lines", hovertemplate=hover,
                   line={"color": colours.secondary, "width": 2, "dash": "dash"})
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(x=data.change_pct, y=data.chosen_usd, mode="lines", hovertemplate=hover,
                   line={"color": colours.accent, "width": 2})
    )  # fmt: skip
    if data.crossing_pct is not None:
        figure.add_trace(
            go.Scatter(x=[data.crossing_pct], y=[data.rival_usd], mode="markers",
                       marker={"color": colours.text, "size": 9}, hovertemplate=hover)
        )  # fmt: skip
        right = data.crossing_pct > sum(ends) / 2
        figure.add_annotation(x=data.crossing_pct, y=data.rival_usd, showarrow=False,
                              text=f"<b>{data.crossing}</b>, {usd(data.rival_usd)}", yshift=16,
                              xanchor="right" if right else "left")  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_xaxes(ticksuffix=f"{NBSP}%", tickformat="+d", nticks=6, title={
        "text": f"{data.title} of the chosen plan against its prediction", "font": {"size": 11}
    })  # fmt: skip
    figure.update_yaxes(tickprefix="$", nticks=5, rangemode="tozero")
    figure.add_annotation(x=0, xref="paper", y=1, yref="paper", yanchor="bottom", xanchor="left",
                          text="Bill, USD", showarrow=False,
                          font={"size": 11, "color": colours.secondary})  # fmt: skip
    return figure
