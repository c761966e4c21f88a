"""Checks of numbers and choices that a user gives."""

from __future__ import annotations

import math
from typing import Final, TypeVar

from advisor.core.errors import InvalidInputError

Choice = TypeVar("Choice", bound=str)
LONGEST_SHOWN: Final = 40


def positive_number(value: object, option: str, most: float, *, todo: str) -> float:
    """Return a number above 0 and up to `most`.

    Raises
    ------
    InvalidInputError
        If it is none; the message names the `option` and says what to do.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise InvalidInputError(
            f"a number above 0 and up to {most:g} is needed, not {_show(value)}.",
            where=option,
            todo=todo,
        )
    return float(value)


def positive_whole(value: object, option: str, most: int, *, todo: str) -> int:
    """Return a whole number from 1 to `most`, also one written as 4096.0.

    Raises
    ------
    InvalidInputError
        If it is none; the message names the `option` and says what to do.
    """
    number = value
    if isinstance(number, float) and math.isfinite(number) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InvalidInputError(
            f"a whole number from 1 to {most:,} is needed, not {_show(value)}.",
            where=option,
            todo=todo,
        )
    return number


def one_of(value: object, option: str, choices: tuple[Choice, ...]) -> Choice:
    """Return `value` if it is one of the `choices`.

    Raises
    ------
    InvalidInputError
        If it is none; the message lists them.
    """
    for choice in choices:
        if value == choice:
            return choice
    raise InvalidInputError(
        f"{_show(value)} is not possible.", where=option, todo=f"Choose {_join(choices)}."
    )


def _join(words: tuple[str, ...]) -> str:
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _show(value: object) -> str:
    text = f"“{value}”" if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
