"""Read a list of the user: every bad cell is named, hostile files are refused."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from advisor.catalog.own.cells import shortened
from advisor.catalog.own.tables import TABLES
from advisor.core.errors import InvalidInputError, nearest_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog.own.cells import Value
    from advisor.catalog.own.known import Known
    from advisor.catalog.own.table import Column, OwnTable, Row

MOST_BYTES: Final = 1_000_000
MOST_ROWS: Final = 200
MOST_PROBLEMS: Final = 50
FORMULA_STARTS: Final = ("=", "+", "@")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a list, in which row (the header is row 1) and column."""

    what: str
    todo: str
    row: int | None = None
    column: str = ""

    @property
    def place(self) -> str:
        """Row and column in words."""
        row = f"row {self.row}" if self.row is not None else ""
        column = f"column {self.column}" if self.column else ""
        return ", ".join(word for word in (row, column) if word)

    def __str__(self) -> str:
        said = f"{self.place}: {self.what}" if self.place else self.what
        return f"{said} {self.todo}".strip()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A list as it was read: rows that are fine, and problems. Only one without may be used.

    ``cells`` are all rows as they are written, so that they can be corrected.
    """

    table: OwnTable
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    cells: tuple[dict[str, str], ...] = ()

    def checked(self, where: str) -> tuple[Row, ...]:
        """Return the rows.

        Raises
        ------
        InvalidInputError
            If anything is wrong; the message has the first problem and the number of others.
        """
        if not self.problems:
            return self.rows
        first, more = self.problems[0], len(self.problems) - 1
        others = f" {more:,} more {'problem' if more == 1 else 'problems'}." if more else ""
        place = f"{where}, {first.place}" if first.place else where
        raise InvalidInputError(first.what, where=place, todo=f"{first.todo}{others}".strip())


def parse_any(content: bytes, known: Known) -> Parsed:
    """Read a list whose header says which it is.

    Raises
    ------
    InvalidInputError
        If the header fits none of the lists, or the content cannot be read as a table.
    """
    lines = _lines(content)
    if not lines:
        raise InvalidInputError("the file is empty.", todo="Begin with a template.")
    header = [_folded(cell) for cell in lines[0][1]]
    common = {name: len(set(header) & set(table.header)) for name, table in TABLES.items()}
    # A column of its own decides: “cloud” stands in two of the lists.
    best = max(common, key=lambda name: (common[name], _own_columns(header, TABLES[name])))
    if not common[best]:
        todo = "; ".join(f"{t.name}: {', '.join(t.header)}" for t in TABLES.values())
        raise InvalidInputError(
            f"no column is known{_separator_hint(header)}.",
            todo=f"The first row names columns. {todo}.",
        )
    return _parse_lines(lines, TABLES[best], known)


def parse(content: bytes, table: OwnTable, known: Known) -> Parsed:
    """Read a list of a known kind; a file that is no table has one problem."""
    try:
        lines = _lines(content)
    except InvalidInputError as error:
        return Parsed(table, (), (Problem(error.what, error.todo),))
    return _parse_lines(lines, table, known)


def _own_columns(header: Sequence[str], table: OwnTable) -> int:
    others = {name for other in TABLES.values() if other is not table for name in other.header}
    return len(set(header) & set(table.header) - others)


def _lines(content: bytes) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with its number in the file."""
    if len(content) > MOST_BYTES:
        raise InvalidInputError(
            f"the file is larger than {MOST_BYTES / 1e6:g} MB.",
            todo=f"A list has up to {MOST_ROWS} rows.",
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"the file is not UTF-8 (byte {error.start + 1:,}).", todo="Save it as CSV UTF-8."
        ) from None
    if "\0" in text:
        raise InvalidInputError("the file holds zero bytes.", todo="Save it as CSV UTF-8.")
    rows = []
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), strict=True), 1):
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                rows.append((number, stripped))
            if len(rows) > MOST_ROWS + 1:
                raise InvalidInputError(
                    f"the file has more than {MOST_ROWS} rows.", todo="Keep what you use."
                )
    except csv.Error as error:
        raise InvalidInputError(
            f"the file is no CSV ({error}).", todo="Check its quotation marks."
        ) from None
    return rows


def _parse_lines(lines: list[tuple[int, list[str]]], table: OwnTable, known: Known) -> Parsed:
    if not lines:
        todo = f"The first row is {','.join(table.header)}."
        return Parsed(table, (), (Problem("the file is empty.", todo),))
    header = [_folded(cell) for cell in lines[0][1]]
    problems = _header_problems(header, table)
    written = tuple(dict(zip(header, cells, strict=False)) for _, cells in lines[1:])
    if problems:
        return Parsed(table, (), tuple(problems), written)
    rows: list[Row] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, cells in lines[1:]:
        row, wrong = _row(number, cells, header, table, known)
        if row is not None:
            key = tuple(str(row[name]).casefold() for name in table.key)
            if key in seen:
                named = ", ".join(str(row[name]) for name in table.key)
                what = f"“{named}” stands in row {seen[key]} too."
                wrong = [Problem(what, "Keep one of the two.", number, ", ".join(table.key))]
            else:
                seen[key] = number
                rows.append(row)
        problems += wrong
        if len(problems) >= MOST_PROBLEMS:
            break
    return Parsed(table, tuple(rows), tuple(problems[:MOST_PROBLEMS]), written)


def _header_problems(header: list[str], table: OwnTable) -> list[Problem]:
    columns = f"Columns are {', '.join(table.header)}."
    if len(header) == 1 and header[0] not in table.header:
        hint = _separator_hint(header)
        return [Problem(f"there is no column “{shortened(header[0])}”{hint}.", columns, 1)]
    found = []
    for position, name in enumerate(header):
        if name in header[:position]:
            found.append(Problem(f"column “{shortened(name)}” stands twice.", "Keep one.", 1))
        elif name not in table.header:
            near = nearest_names(name, table.header)
            offer = f"Did you mean {' or '.join(near)}?" if near else columns
            found.append(Problem(f"there is no column “{shortened(name)}”.", offer, 1))
    for column in table.columns:
        if column.required and column.name not in header:
            todo = f"Add it: {column.meaning}."
            found.append(Problem(f"column {column.name} is missing.", todo, 1))
    return found[:MOST_PROBLEMS]


def _row(
    number: int, cells: list[str], header: list[str], table: OwnTable, known: Known
) -> tuple[Row | None, list[Problem]]:
    """Return the row, or None and what is wrong with it."""
    if len(cells) > len(header) and any(cells[len(header) :]):
        what = f"the row has {len(cells)} cells, the header {len(header)}."
        return None, [Problem(what, "Put text with commas into quotation marks.", number)]
    texts = dict(zip(header, cells, strict=False))
    row: Row = {}
    wrong = []
    for column in table.columns:
        text = texts.get(column.name, "")
        try:
            row[column.name] = _cell(text, column, known)
        except InvalidInputError as error:
            wrong.append(Problem(error.what, error.todo, number, column.name))
    if wrong:
        return None, wrong
    try:
        return table.check(row, known), []
    except InvalidInputError as error:
        return None, [Problem(error.what, error.todo, number)]


def _cell(text: str, column: Column, known: Known) -> Value:
    if text.startswith(FORMULA_STARTS):
        raise InvalidInputError(f"“{shortened(text)}” is a formula.", todo="Write its value.")
    if text:
        return column.read(text, known)
    if column.required:
        raise InvalidInputError("the cell is empty.", todo=f"Give {column.meaning}.")
    return None


def _separator_hint(header: list[str]) -> str:
    return ": it separates by semicolons, not commas" if any(";" in name for name in header) else ""


def _folded(cell: str) -> str:
    return cell.casefold().replace(" ", "_")
