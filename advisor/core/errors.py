"""The error tree.

::

    AdvisorError
    ├── InvalidInputError    a value, file or option of the user cannot be used
    │   ├── UnknownNameError no such model, machine, accelerator, … (offers the nearest names)
    │   └── TraceError       a trace or log cannot be read
    ├── CatalogError         a table of prices or machines is missing or broken
    ├── StoreError           the store of measured runs cannot be opened or written
    ├── PredictionError      a quantity cannot be predicted from what is given
    └── NoFeasiblePlanError  no plan meets the constraints

A message says what is wrong, where, and what to do about it. Only programming mistakes raise
anything else.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class AdvisorError(Exception):
    """Root of all errors a user can meet.

    Parameters
    ----------
    what : str
        What is wrong, one sentence.
    where : str, optional
        File and row, option or field.
    todo : str, optional
        What the user can do about it.
    """

    def __init__(self, what: str, *, where: str = "", todo: str = "") -> None:
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} {self.todo}" if self.todo else text

    def to_dict(self) -> dict[str, str]:
        """Return the error as plain JSON values, as programs get it.

        >>> InvalidInputError("no such file.", where="run.log").to_dict()
        {'kind': 'InvalidInputError', 'what': 'no such file.', 'where': 'run.log', 'todo': ''}
        """
        return {
            "kind": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "todo": self.todo,
        }

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.todo), self.__dict__)


def _rebuild(kind: type[AdvisorError], what: str, where: str, todo: str) -> AdvisorError:
    """Make the error again on the other side of a pickle (process pools, caches)."""
    error = kind.__new__(kind)
    AdvisorError.__init__(error, what, where=where, todo=todo)
    return error


class InvalidInputError(AdvisorError):
    """A value, file or option given by the user cannot be used."""


class UnknownNameError(InvalidInputError):
    """A name that is not among the known ones; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        self.nearest = nearest_names(name, known)
        offer = f"Did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        super().__init__(f"unknown {kind} “{name}”.", where=where, todo=offer)


class TraceError(InvalidInputError):
    """A trace or log cannot be read, or is refused."""


class CatalogError(AdvisorError):
    """A table of prices, machines or links is missing or broken."""


class StoreError(AdvisorError):
    """The store of measured runs cannot be opened, read or written."""


class PredictionError(AdvisorError):
    """A quantity cannot be predicted from what is given."""


class NoFeasiblePlanError(AdvisorError):
    """No plan meets the constraints."""


def nearest_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return up to `most` known names that look like `name`, nearest first."""
    by_folded = {k.casefold(): k for k in known}
    folded = name.casefold()
    close = get_close_matches(folded, by_folded, n=most, cutoff=0.5)
    inside = [k for k in by_folded if folded and folded in k and k not in close]
    return [by_folded[k] for k in (close + sorted(inside, key=len))[:most]]
