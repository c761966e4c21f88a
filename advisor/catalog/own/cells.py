"""Readers of single cells; each refuses with what is wrong and what to write instead."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final, get_args

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.core.units import parse_count
from advisor.domain.hardware import COMMITTED, OWN_CLOUD, Market

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog.own.known import Known

Value = str | float | dt.date | None
LONGEST_NAME: Final = 60
# Names stand in links and in “4 x NAME”: no separators of those, and nothing a spreadsheet runs.
_NAME: Final = re.compile(r"[^\W_][\w .+()-]*")
MARKETS: Final = {market.replace("_", "-"): market for market in get_args(Market)}
COMMITMENTS: Final = {market.replace("_", "-"): market for market in COMMITTED}


def name(text: str, _: Known) -> str:
    """Read the name of a machine or place."""
    if len(text) > LONGEST_NAME or not _NAME.fullmatch(text):
        raise InvalidInputError(
            f"“{shortened(text)}” cannot be a name.",
            todo=f"Use up to {LONGEST_NAME} letters, digits, spaces and . _ + - ( ), beginning "
            "with a letter or digit.",
        )
    return text


def accelerator(text: str, known: Known) -> str:
    """Read an accelerator by any of its names."""
    return known.accelerator(text)


def cloud(text: str, known: Known) -> str:
    """Read a cloud of the price lists."""
    return known.cloud(text)


def any_cloud(text: str, known: Known) -> str:
    """Read a cloud of the price lists, or the user's own machines."""
    return OWN_CLOUD if text.casefold() == OWN_CLOUD else known.cloud(text)


def instance_type(text: str, known: Known) -> str:
    """Read an instance type of any cloud, in its own case."""
    return known.instance_type(text)


def commitment(text: str, _: Known) -> str:
    """Read what binds: savings-plan, capacity-block."""
    written = re.sub(r"[\s_]+", "-", text.casefold())
    if written not in COMMITMENTS:
        raise UnknownNameError("commitment", shortened(text), COMMITMENTS)
    return str(COMMITMENTS[written])


def currency(text: str, _: Known) -> str:
    """Read the code of a currency: three letters."""
    code = text.upper()
    if not re.fullmatch(r"[A-Z]{3}", code) or code == "USD":
        raise InvalidInputError(
            f"“{shortened(text)}” is no code of another currency.",
            todo="Write its three letters: EUR, GBP, JPY.",
        )
    return code


def market(text: str, _: Known) -> str:
    """Read a market: on-demand, spot, reserved-1y, reserved-3y."""
    written = text.casefold().replace("_", "-")
    if written not in MARKETS:
        raise UnknownNameError("market", text, MARKETS)
    return str(MARKETS[written])


def link(text: str, _: Known) -> str:
    """Read the name of a link; whether the accelerator has it is checked with the row."""
    return name(text, _)


def date(text: str, _: Known) -> dt.date:
    """Read a day that is not of the future."""
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidInputError(
            f"“{shortened(text)}” is no date.", todo="Write year-month-day: 2026-07-31."
        ) from None
    today = dt.datetime.now(tz=dt.UTC).date()
    if day > today or day.year < 2000:
        raise InvalidInputError(
            f"{day} is not a day from 2000 until today.",
            todo="Write the day from which the price holds, or leave it empty.",
        )
    return day


def number(low: float, high: float, unit: str) -> Callable[[str, Known], float]:
    """Return a reader of numbers from `low` to `high`."""

    def read(text: str, _: Known) -> float:
        value = parse_count(shortened(text), "")
        if not low <= value <= high:
            raise InvalidInputError(
                f"{shortened(text)} is not between {low:,g} and {high:,g} {unit}.".replace(
                    " .", "."
                ),
                todo="Correct the number; leave the cell empty where it may be unknown.",
            )
        return value

    return read


def whole(high: float, unit: str) -> Callable[[str, Known], float]:
    """Return a reader of whole numbers from 1 to `high`."""
    read_number = number(1, high, unit)

    def read(text: str, known: Known) -> float:
        value = read_number(text, known)
        if value != int(value):
            raise InvalidInputError(f"{text} is not a whole number.", todo=f"Write whole {unit}.")
        return value

    return read


def shortened(text: str) -> str:
    """Return what a message shows of a cell."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
