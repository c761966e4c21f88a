"""Write the user's lists as CSV, and the templates they start from."""

from __future__ import annotations

import csv
import datetime as dt
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from advisor.catalog.own.cells import Value
    from advisor.catalog.own.table import OwnTable, Row


def csv_text(table: OwnTable, rows: Iterable[Row]) -> str:
    """Return the rows as `parse` reads them."""
    return _csv(table, csv_rows(table, rows))


def cells_csv(table: OwnTable, cells: Iterable[Mapping[str, str]]) -> str:
    """Return rows of texts as CSV; what is wrong with them stays."""
    return _csv(table, ([row.get(name, "") for name in table.header] for row in cells))


def csv_rows(table: OwnTable, rows: Iterable[Row]) -> list[list[str]]:
    """Return the cells of the rows as text, in the order of the header."""
    return [[_text(row.get(name)) for name in table.header] for row in rows]


def template(table: OwnTable) -> str:
    """Return the header and one example row."""
    return _csv(table, [table.example])


def _csv(table: OwnTable, rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(rows)
    return text.getvalue()


def _text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.15g}"
    return value.isoformat() if isinstance(value, dt.date) else value
