"""Plans side by side: the same parts in the same order, all on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go

from advisor.core.units import GB, NBSP, duration, hours, number, usd
from advisor.ui.charts.bars import BarData, BarPart, bill_bar, colours_of, memory_bar, step_bar
from advisor.ui.charts.style import plain_layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.domain import Estimate, Plan
    from advisor.ui.theme import Palette

LETTERS: Final = "ABCDE"
ROW_HEIGHT: Final = 40
# Room for the text behind the longest bar.
ROOM: Final = 1.32


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Bars of several plans on one scale.

    ``whiskers`` has the ends of each interval, empty where a bar has none; ``scale`` is the end
    of the common axis, ``texts`` what stands behind each bar, ``limit`` a line across all of them.
    """

    title: str
    bars: tuple[BarData, ...]
    whiskers: tuple[tuple[float, float], ...]
    texts: tuple[str, ...]
    scale: float
    limit: tuple[float, str] | None = None

    @property
    def alt(self) -> str:
        """The bars in words."""
        rows = (
            f"{letter}: {text}" + "".join(f", {part.name} {part.text}" for part in bar.parts)
            for letter, text, bar in zip(LETTERS, self.texts, self.bars, strict=False)
        )
        return f"{self.title}. " + "; ".join(rows)


def side_by_side(plans: Sequence[Plan], deadline_h: float | None) -> list[SideBySide]:
    """Return time to finish [h], bill [USD], one step [s] and memory [bytes] of the plans."""
    return [
        _time([plan.hours for plan in plans], deadline_h),
        _stacked("Bill", [bill_bar(plan.bill) for plan in plans],
                 [plan.cost_usd for plan in plans], [usd(p.cost_usd.value) for p in plans]),
        _stacked("One step", [step_bar(plan.parts) for plan in plans],
                 [plan.step_time_s for plan in plans],
                 [duration(p.step_time_s.value) for p in plans]),
        _memory(plans),
    ]  # fmt: skip


def _time(estimates: Sequence[Estimate], deadline_h: float | None) -> SideBySide:
    ends = tuple((e.low, e.high) for e in estimates)
    texts = tuple(f"{hours(e.value)}{NBSP}h" for e in estimates)
    bars = tuple(BarData(parts=(_whole_part(e.value),), whole=e.value) for e in estimates)
    top = max(high for _, high in ends)
    near = deadline_h is not None and deadline_h < 1.5 * top
    limit = (deadline_h, f"Deadline {hours(deadline_h)}{NBSP}h") if near and deadline_h else None
    return SideBySide("Time to finish", bars, ends, texts,
                      max(top, limit[0] if limit else 0.0), limit)  # fmt: skip


def _whole_part(value: float) -> BarPart:
    return BarPart(name="Time", value=value, text=f"{hours(value)}{NBSP}h", share=1.0)


def _stacked(
    title: str, bars: Sequence[BarData], estimates: Sequence[Estimate], texts: Sequence[str]
) -> SideBySide:
    ends = tuple((e.low, e.high) for e in estimates)
    return SideBySide(title, tuple(bars), ends, tuple(texts), max(high for _, high in ends))


def _memory(plans: Sequence[Plan]) -> SideBySide:
    bars = tuple(memory_bar(plan.memory) for plan in plans)
    texts = tuple(
        f"{number(plan.memory.used_bytes / GB)} of {plan.memory.capacity_bytes / GB:,.0f}{NBSP}GB"
        for plan in plans
    )
    return SideBySide("Memory per device", bars, (), texts, max(bar.whole for bar in bars))


def draw_side_by_side(data: SideBySide, colours: Palette) -> go.Figure:
    """Draw one stacked bar per plan, the first on top, with its interval and its figure."""
    letters = list(LETTERS[: len(data.bars)])
    figure = go.Figure()
    shades = colours_of(data.bars[0], colours)
    for index, shade in enumerate(shades):
        parts = [bar.parts[index] for bar in data.bars]
        figure.add_trace(
            go.Bar(
                x=[part.value or 0.0 for part in parts], y=letters, orientation="h",
                marker={"color": shade, "line": {"color": colours.page, "width": 1}},
                hovertext=[f"{part.name}: {part.text}" for part in parts], hoverinfo="text",
            )
        )  # fmt: skip
    for row, (letter, text) in enumerate(zip(letters, data.texts, strict=True)):
        end = data.whiskers[row][1] if data.whiskers else data.bars[row].whole
        figure.add_annotation(x=end, y=letter, xanchor="left", xshift=6, showarrow=False,
                              text=text, font={"size": 11, "color": colours.text})  # fmt: skip
    _whiskers(figure, data, letters, colours)
    figure.update_layout(plain_layout(colours, ROW_HEIGHT * len(letters) + 24))
    figure.update_layout(barmode="stack", bargap=0.42, margin={"l": 4, "r": 4, "t": 20, "b": 4})
    figure.update_xaxes(range=[0, ROOM * data.scale], visible=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category",
                        tickfont={"size": 12, "color": colours.text})  # fmt: skip
    if data.limit is not None:
        value, text = data.limit
        figure.add_vline(x=value, line={"color": colours.secondary, "width": 1, "dash": "dash"})
        font = {"size": 11, "color": colours.secondary}
        figure.add_annotation(x=value, y=1, yref="paper", yanchor="bottom", text=text,
                              showarrow=False, font=font)  # fmt: skip
    return figure


def _whiskers(figure: go.Figure, data: SideBySide, letters: list[str], colours: Palette) -> None:
    if not data.whiskers:
        return
    middle = [sum(part.value or 0.0 for part in bar.parts) for bar in data.bars]
    figure.add_trace(
        go.Scatter(
            x=middle, y=letters, mode="markers", hoverinfo="skip",
            marker={"color": colours.text, "size": 5},
            error_x={
                "array": [high - x for (_, high), x in zip(data.whiskers, middle, strict=True)],
                "arrayminus": [x - low for (low, _), x in zip(data.whiskers, middle, strict=True)],
                "color": colours.text, "thickness": 1.5, "width": 4, "symmetric": False,
            },
        )
    )  # fmt: skip
