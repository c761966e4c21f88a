"""Stacked bars: the step, the memory, the bill. Parts sum to the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import plotly.graph_objects as go

from advisor.core.units import data_size, duration, number, usd
from advisor.ui.charts.style import plain_layout
from advisor.ui.theme import swatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from advisor.domain import Bill, MemoryUse, StepParts
    from advisor.ui.theme import Palette

HEIGHT: Final = 26
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part with its text and share; ``value`` None means not available."""

    name: str
    value: float | None
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class BarData:
    """Parts of one bar; ``whole`` is its length, at least their sum."""

    parts: tuple[BarPart, ...]
    whole: float


NOT_STATED: Final = "not stated"


def stacked(
    values: Mapping[str, float | None], text: Callable[[float], str], whole: float
) -> BarData:
    """Return named parts of a whole as a bar; None is not available."""
    parts = []
    for name, value in values.items():
        share = (value or 0.0) / whole if whole > 0 else 0.0
        said = "not available" if value is None else text(value) if value > 0 else NONE
        parts.append(BarPart(name=name, value=value, text=said, share=share))
    return BarData(parts=tuple(parts), whole=whole)


def step_bar(parts: StepParts) -> BarData:
    """Return the parts of one step [s]."""
    values: dict[str, float | None] = {
        "Compute": parts.compute_s,
        "Exposed communication": parts.exposed_communication_s,
        "Pipeline bubble": parts.bubble_s,
        "Overhead": parts.overhead_s,
    }
    return stacked(values, duration, parts.total_s)


def memory_bar(memory: MemoryUse) -> BarData:
    """Return the parts of the fullest device's memory [bytes], and what is free."""
    free = max(0.0, memory.capacity_bytes - memory.used_bytes)
    values: dict[str, float | None] = {
        "Parameters": memory.parameters_bytes,
        "Gradients, optimizer": memory.gradients_bytes + memory.optimizer_bytes,
        "Activations": memory.activations_bytes,
        "Workspace": memory.workspace_bytes,
        "Free": free,
    }
    return stacked(values, data_size, max(memory.capacity_bytes, memory.used_bytes))


def bill_bar(bill: Bill) -> BarData:
    """Return the parts of the bill [USD]; data is one part, and so are checkpoints."""
    values: dict[str, float | None] = {
        "Machines": bill.machines_usd,
        "Start-up": bill.startup_usd,
        "Allowance": bill.retries_usd,
        "Interruptions": bill.interruptions_usd,
        "Failed attempts": bill.failed_usd,
        "Billing minimum": bill.rounding_usd,
        "Checkpoints": _known(bill.storage_usd, bill.writes_usd),
        "Data": _known(bill.data_storage_usd, bill.traffic_usd),
    }
    bar = stacked(values, _cents, bill.total_usd)
    if bill.data_stated:
        return bar
    return replace(bar, parts=(*bar.parts[:-1], replace(bar.parts[-1], text=NOT_STATED)))


def _cents(amount_usd: float) -> str:
    return f"${amount_usd:.2f}" if amount_usd < 100 else usd(amount_usd)


def _known(*amounts: float | None) -> float | None:
    """Return the sum of the known amounts, None where none is known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def colours_of(data: BarData, colours: Palette) -> list[str]:
    """Return the colour of every part; what is free has the colour of the shade."""
    last = len(data.parts) - 1
    shades = [colours.parts[min(i, len(colours.parts) - 1)] for i in range(len(data.parts))]
    if data.parts[last].name == "Free":
        shades[last] = colours.shade
    return shades


def part_marks(data: BarData, colours: Palette) -> list[str]:
    """Return the coloured mark of every part as markdown; what is free is hollow."""
    return [
        swatch(colours.secondary, "□") if part.name == "Free" else swatch(shade, "■")
        for part, shade in zip(data.parts, colours_of(data, colours), strict=True)
    ]


def draw_bar(data: BarData, colours: Palette) -> go.Figure:
    """Draw one stacked bar without axes."""
    figure = go.Figure()
    for part, colour in zip(data.parts, colours_of(data, colours), strict=True):
        figure.add_trace(
            go.Bar(
                x=[part.value or 0.0], y=[""], orientation="h",
                marker={"color": colour, "line": {"color": colours.page, "width": 1}},
                hovertext=f"{part.name}: {part.text} ({number(100 * part.share, 2)} %)",
                hoverinfo="text",
            )
        )  # fmt: skip
    figure.update_layout(plain_layout(colours, HEIGHT))
    figure.update_layout(barmode="stack", bargap=0, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    figure.update_xaxes(visible=False, range=[0, data.whole])
    figure.update_yaxes(visible=False)
    return figure
