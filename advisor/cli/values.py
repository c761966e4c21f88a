"""Readers of option values, with messages that say what to write instead."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, TypeVar

from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.core.units import parse_count

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
LAST_PORT: Final = 65535


def count(field: str) -> Callable[[str], float]:
    """Return a reader of counts: 10e9, 10 B."""
    return _checked(lambda text: parse_count(text, field))


def positive(field: str) -> Callable[[str], float]:
    """Return a reader of numbers above 0."""

    def read(text: str) -> float:
        value = parse_count(text, field)
        if value <= 0:
            raise InvalidInputError(f"{text} is not above 0.", where=field)
        return value

    return _checked(read)


def amount(field: str) -> Callable[[str], float]:
    """Return a reader of numbers of 0 or more."""

    def read(text: str) -> float:
        value = parse_count(text, field)
        if value < 0:
            raise InvalidInputError(f"{text} is below 0.", where=field)
        return value

    return _checked(read)


def whole(field: str) -> Callable[[str], int]:
    """Return a reader of whole numbers above 0."""

    def read(text: str) -> int:
        value = parse_count(text, field)
        if value != int(value) or value <= 0:
            raise InvalidInputError(f"{text} is not a whole number above 0.", where=field)
        return int(value)

    return _checked(read)


def share(field: str) -> Callable[[str], float]:
    """Return a reader of shares from 0 up to 1."""

    def read(text: str) -> float:
        value = parse_count(text, field)
        if not 0 <= value < 1:
            raise InvalidInputError(f"{text} is not a share between 0 and 1.", where=field)
        return value

    return _checked(read)


def port(text: str) -> int:
    """Read a port: 1 to 65535."""
    value = whole("--port")(text)
    if value > LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text} is not a port. Give 1 to {LAST_PORT}.")
    return value


def allowance(text: str) -> float:
    """Read an allowance: a share of 0 or more."""
    value = _checked(lambda given: parse_count(given, "--retry-allowance"))(text)
    if value < 0:
        raise argparse.ArgumentTypeError("a share of 0 or more is needed")
    return value


def _checked(read: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse print our message (and exit with 2) when a value cannot be read."""

    def convert(text: str) -> T:
        try:
            return read(text)
        except AdvisorError as error:
            raise argparse.ArgumentTypeError(f"{error.what} {error.todo}".strip()) from None

    return convert
