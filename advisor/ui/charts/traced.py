"""Charts of a trace: where the time of the devices went, over time and rank by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go

from advisor.core.units import duration, number, percent
from advisor.ui.charts.bars import BarData, colours_of, stacked
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.traces import Parts, RankRow, Timeline
    from advisor.ui.theme import Palette

HEIGHT: Final = 200
MOST_RANKS: Final = 512
_SECOND_S: Final = 1.0


def run_bar(parts: Parts, steps: int | None) -> BarData:
    """Return where the time of a usual device went [s]: of a mean step, or of all that is seen."""
    each = 1 / steps if steps else 1.0
    values = {
        "Compute": parts.compute_s * each,
        "Exposed communication": parts.comm_exposed_s * each,
        "Copies": parts.memcpy_s * each,
        "Idle": parts.idle_s * each,
    }
    return stacked(values, duration, parts.window_s * each)


def draw_timeline(timeline: Timeline, title: str, bar: BarData, colours: Palette) -> go.Figure:
    """Draw what a device did in slices of the observed time, in the colours of its bar."""
    slices = len(timeline.compute)
    scale, unit = _unit(timeline.slice_s * slices)
    times = [(i + 0.5) * timeline.slice_s * scale for i in range(slices)]
    columns = (timeline.compute, timeline.comm_exposed, timeline.memcpy)
    figure = go.Figure()
    for part, colour, shares in zip(bar.parts, colours_of(bar, colours), columns, strict=False):
        figure.add_trace(
            go.Bar(
                x=times, y=[100 * share for share in shares], marker={"color": colour},
                width=timeline.slice_s * scale, name=part.name,
                hovertemplate=f"{part.name}: %{{y:.0f}} %<br>at %{{x:.4g}} {unit}<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(barmode="stack", bargap=0)
    figure.update_xaxes(range=[0, slices * timeline.slice_s * scale], ticksuffix=f" {unit}")
    figure.update_yaxes(range=[0, 100], ticksuffix=" %")
    _title(figure, title, colours)
    return figure


@dataclass(frozen=True, slots=True)
class RanksData:
    """Ranks side by side: step time and its part of exposed communication [s], and what to say."""

    ranks: tuple[int, ...]
    step_s: tuple[float, ...]
    exposed_s: tuple[float, ...]
    texts: tuple[str, ...]


def ranks_data(rows: Sequence[RankRow]) -> RanksData | None:
    """Return the ranks whose step time is known; None where there are not two."""
    timed = [(row, row.step_time_s) for row in rows[:MOST_RANKS] if row.step_time_s is not None]
    if len(timed) < 2:
        return None
    texts = tuple(
        f"<b>Rank {row.rank}</b><br>step {duration(step_s)}"
        f"<br>busy {percent(row.gpu_busy_share)}"
        f"<br>exposed communication {percent(row.comm_exposed_share)}"
        for row, step_s in timed
    )
    return RanksData(
        ranks=tuple(row.rank for row, _ in timed),
        step_s=tuple(step_s for _, step_s in timed),
        exposed_s=tuple((row.comm_exposed_share or 0.0) * step_s for row, step_s in timed),
        texts=texts,
    )


def draw_ranks(data: RanksData, bar: BarData, colours: Palette) -> go.Figure:
    """Draw a bar per rank: its step, of which communication that nothing hides is set off."""
    scale, unit = _unit(max(data.step_s))
    rest, exposed = colours_of(bar, colours)[:2]
    other_s = [step - part for step, part in zip(data.step_s, data.exposed_s, strict=True)]
    figure = go.Figure()
    for values_s, colour in ((other_s, rest), (data.exposed_s, exposed)):
        figure.add_trace(
            go.Bar(
                x=list(data.ranks), y=[value * scale for value in values_s],
                marker={"color": colour}, hovertext=data.texts, hoverinfo="text",
            )
        )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(barmode="stack", bargap=0.2)
    figure.update_xaxes(tickprefix="rank ", tickmode="auto", nticks=8, tickformat="d")
    figure.update_yaxes(rangemode="tozero", ticksuffix=f" {unit}")
    _title(figure, f"Step time of {len(data.ranks):,} ranks", colours)
    return figure


def ranks_words(data: RanksData) -> str:
    """Return what the chart of ranks shows, for those who do not see it."""
    slowest = max(zip(data.step_s, data.ranks, strict=True))
    return (
        f"Step time of {len(data.ranks):,} ranks: {duration(min(data.step_s))} to "
        f"{duration(slowest[0])}, the slowest is rank {number(slowest[1])}"
    )


def _unit(most_s: float) -> tuple[float, str]:
    return (1.0, "s") if most_s >= _SECOND_S else (1e3, "ms")


def _title(figure: go.Figure, text: str, colours: Palette) -> None:
    figure.add_annotation(
        text=text, x=0, xref="paper", y=1, yref="paper", xanchor="left", yanchor="bottom",
        yshift=4, showarrow=False, font={"color": colours.secondary, "size": 11},
    )  # fmt: skip
