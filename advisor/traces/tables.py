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


def first_cells(head: bytes) -> list[str]:
    """Return the cells of the first line that is not blank."""
    text = head[:8192].decode("utf-8-sig", errors="replace").replace("\r", "\n")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = head[:8192].decode("utf-16", errors="replace")
    line = next((line for line in text.split("\n") if line.strip()), "")
    try:
        cells = next(csv.reader([line], skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]
