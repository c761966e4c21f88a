"""What plans have in common and where they differ, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from advisor.advice import terms
from advisor.advice.interruptions import chance_of
from advisor.core.units import (
    NBSP,
    data_size,
    duration,
    hours,
    interval,
    number,
    percent,
    usd,
)
from advisor.ui.charts.side_by_side import LETTERS
from advisor.ui.text import plain
from advisor.ui.theme import MARKET_TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.domain import Estimate, Plan


@dataclass(frozen=True, slots=True)
class Line:
    """One property of all plans; ``best`` has the columns of the best cells, if one is better."""

    name: str
    cells: tuple[str, ...]
    best: frozenset[int] = frozenset()

    @property
    def differs(self) -> bool:
        """Whether the plans differ in it."""
        return len(set(self.cells)) > 1


def comparison_lines(plans: Sequence[Plan], deadline_h: float | None) -> list[Line]:
    """Return the lines of the comparison, in the order in which they matter."""
    lines = [
        _measure("Cost, 90 %", plans, lambda p: p.cost_usd.value, lambda p: _usd(p.cost_usd)),
        _measure("Time, 90 %", plans, lambda p: p.hours.value, lambda p: _hours(p.hours)),
    ]
    if deadline_h is not None:
        lines.append(
            _measure(f"Within {hours(deadline_h)}{NBSP}h", plans,
                     lambda p: -_shown(p.deadline_probability),
                     lambda p: percent(p.deadline_probability))
        )  # fmt: skip
    lines += [
        _text("Machines", plans, lambda p: str(p.cluster)),
        _text("Accelerators", plans,
              lambda p: f"{p.cluster.accelerators:g} × {p.cluster.groups[0].accelerator}"),
        _text("Cloud, region", plans, lambda p: f"{p.offer.cloud}, {p.offer.region}"),
        _text("Market", plans, lambda p: MARKET_TITLES[p.offer.market]),
        _text("Layout", plans, lambda p: str(p.layout)),
        _measure("Price of all machines", plans, lambda p: p.offer.usd_per_h * p.cluster.machines,
                 lambda p: f"{usd(p.offer.usd_per_h * p.cluster.machines)}/h"),
        _measure("Price per accelerator", plans, _per_device,
                 lambda p: f"{usd(_per_device(p))}/h"),
        _measure("One step", plans, lambda p: p.step_time_s.value,
                 lambda p: duration(p.step_time_s.value)),
        _measure("MFU", plans, lambda p: -p.mfu, lambda p: percent(p.mfu)),
        _text("Memory per device", plans, lambda p: data_size(p.memory.used_bytes)),
        _measure("Out of memory", plans, lambda p: _shown(p.memory.out_of_memory_probability),
                 lambda p: percent(p.memory.out_of_memory_probability)),
        _text("Interrupted", plans, lambda p: chance_of(p.interruptions)),
        _text("Prediction", plans, lambda p: p.cost_usd.basis.capitalize()),
        _text("Your terms", plans, lambda p: " ".join(terms.sentences(p)) or "none"),
        _text("Price as of", plans, lambda p: str(p.offer.as_of or "not dated")),
        _text("Price flags", plans, lambda p: ", ".join(p.offer.flags).replace("_", " ") or "none"),
    ]  # fmt: skip
    return lines


def comparison_table(lines: Sequence[Line]) -> pd.DataFrame:
    """Return the lines as a table of markdown, differences marked, the best in bold."""
    columns = {
        " ": [line.name for line in lines],
        "Differs": ["≠" if line.differs else "" for line in lines],
    }
    for column, letter in enumerate(LETTERS[: len(lines[0].cells)]):
        columns[letter] = [_cell(line, column) for line in lines]
    return pd.DataFrame(columns)


def _cell(line: Line, column: int) -> str:
    text = plain(line.cells[column])
    return f"**{text}**" if column in line.best else text


def _text(name: str, plans: Sequence[Plan], text: Callable[[Plan], str]) -> Line:
    return Line(name, tuple(text(plan) for plan in plans))


def _measure(
    name: str, plans: Sequence[Plan], value: Callable[[Plan], float], text: Callable[[Plan], str]
) -> Line:
    """Return a line of which the lowest value is the best; what reads the same is equally good."""
    cells = tuple(text(plan) for plan in plans)
    values = [value(plan) for plan in plans]
    lowest = cells[values.index(min(values))]
    best = frozenset(i for i, cell in enumerate(cells) if cell == lowest)
    return Line(name, cells, best if len(best) < len(cells) else frozenset())


def _shown(share: float | None) -> float:
    return 0.0 if share is None else share


def _per_device(plan: Plan) -> float:
    return plan.offer.usd_per_h / plan.cluster.groups[0].accelerators_per_node


def _usd(estimate: Estimate) -> str:
    return f"{usd(estimate.value)} ({interval(number(estimate.low), number(estimate.high))})"


def _hours(estimate: Estimate) -> str:
    bounds = interval(*(hours(b, like=estimate.value) for b in (estimate.low, estimate.high)))
    return f"{hours(estimate.value)}{NBSP}h ({bounds})"
