"""Rows of a benchmark: printed as a table or as JSON; a bar that does not hold is shown as such."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; ``holds`` is True where there is no bar."""

    name: str
    value: float
    unit: str
    bar: str | None = None
    holds: bool = True


def at_most(name: str, value: float, unit: str, bar: float | None) -> Row:
    """Return a row whose value should not exceed `bar`."""
    if bar is None:
        return Row(name, value, unit)
    return Row(name, value, unit, f"<= {bar:g}", bool(math.isfinite(value) and value <= bar))


def below(name: str, value: float, unit: str, bar: float | None) -> Row:
    """Return a row whose value should be less than `bar`."""
    if bar is None:
        return Row(name, value, unit)
    return Row(name, value, unit, f"< {bar:.4g}", bool(value < bar))


def at_least(name: str, value: float, unit: str, bar: float | None) -> Row:
    """Return a row whose value should not fall below `bar`."""
    if bar is None:
        return Row(name, value, unit)
    return Row(name, value, unit, f">= {bar:g}", bool(value >= bar))


def within(name: str, value: float, unit: str, low: float, high: float) -> Row:
    """Return a row whose value should lie between two bars."""
    return Row(name, value, unit, f"{low:g} to {high:g}", bool(low <= value <= high))


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options every benchmark has."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="print rows for machines")
    return made


def show(rows: Iterable[Row], *, as_json: bool) -> int:
    """Print the rows; return the exit code, 1 where a bar does not hold."""
    listed = list(rows)
    if as_json:
        print(json.dumps([asdict(row) for row in listed], indent=1))
    else:
        _print_table(listed)
    return 0 if all(row.holds for row in listed) else 1


def _print_table(rows: Sequence[Row]) -> None:
    table = Table("figure", "value", "unit", "bar", "")
    table.columns[1].justify = "right"
    for row in rows:
        verdict = "" if row.bar is None else "holds" if row.holds else "[red]fails[/red]"
        table.add_row(row.name, f"{row.value:,.4g}", row.unit, row.bar or "", verdict)
    Console(width=100).print(table)
