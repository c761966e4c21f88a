"""What a list of the user is: its columns, its key, and what a row must satisfy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.catalog.own.known import Known

if TYPE_CHECKING:
    from advisor.catalog.own.cells import Value

Row = dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in the header, its title in a form, what it means, its reader."""

    name: str
    title: str
    meaning: str
    read: Callable[[str, Known], Value]
    required: bool = False


@dataclass(frozen=True, slots=True)
class OwnTable:
    """One list of the user.

    ``key`` names a row; ``check`` refuses rows whose cells do not fit each other and fills what
    follows from them.
    """

    name: str
    file: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    example: tuple[str, ...]
    check: Callable[[Row, Known], Row]

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns, in their order."""
        return tuple(column.name for column in self.columns)


def unchanged(row: Row, _: Known) -> Row:
    """Return the row: its cells are all that must be right."""
    return row
