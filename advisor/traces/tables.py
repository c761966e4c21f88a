"""Rows of CSV files of other programs: separators, quotes, texts before the header."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from advisor.core.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.traces.source import Source


def rows(source: Source, lines: Iterable[str], delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the cells of each line that is not blank, without spaces around them.

    Raises
    ------
    TraceError
        If a cell is too long to be one.
    """
    try:
        for cells in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield stripped
    except csv.Error as error:
        raise TraceError(
            f"not readable as a table ({error}).", where=source.name, todo="Export it again."
        ) from None


def delimiter_of(head: bytes) -> str:
    """Return what separates the cells of the first line; some spreadsheets save semicolons."""
    first = head[:8192].lstrip().split(b"\n", 1)[0]
    return max(",;\t", key=lambda mark: first.count(mark.encode()))


def first_cells(head: bytes) -> list[str]:
    """Return the cells of the first line that is not blank."""
    text = head[:8192].decode("utf-8-sig", errors="replace").replace("\r", "\n")
    line = next((line for line in text.split("\n") if line.strip()), "")
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(head), skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]
