"""Units: SI inside, human units at the edge, and how a number is written for people."""

from __future__ import annotations

import math
import re
from typing import Final

from advisor.core.errors import InvalidInputError

KIB: Final = 1024.0
MIB: Final = 1024.0**2
GIB: Final = 1024.0**3
GB: Final = 1e9
TB: Final = 1e12
TFLOPS: Final = 1e12
GBIT_PER_S: Final = 1e9 / 8
HOUR_S: Final = 3600.0
DAY_S: Final = 86400.0
HOURS_PER_MONTH: Final = 730.0
NBSP: Final = "\u00a0"
NOT_AVAILABLE: Final = "not available"


def round_significant(value: float, digits: int = 3) -> float:
    """Round to `digits` significant digits.

    >>> round_significant(1243.7), round_significant(0.012345)
    (1240.0, 0.0123)
    """
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with `digits` significant digits and thousands separators.

    >>> number(1243.7), number(5.618), number(0.0004)
    ('1,240', '5.62', '0.0004')
    """
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    rounded = round_significant(value, digits)
    if rounded == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if abs(rounded) < 1 else text


def usd(value: float | None) -> str:
    """Write an amount of money: three significant digits, cents below ten dollars.

    >>> usd(1243.7), usd(0.0312), usd(7.5), usd(-7.5)
    ('$1,240', '$0.0312', '$7.50', '-$7.50')
    """
    text = number(value)
    if text == NOT_AVAILABLE:
        return text
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def hours(value: float | None, like: float | None = None) -> str:
    """Write hours without the unit: one decimal below 20, none above.

    `like` is the estimate that an interval bound belongs to; the bound follows its format.

    >>> hours(5.618), hours(31.2), hours(17.0, like=19.8)
    ('5.6', '31', '17.0')
    """
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    reference = value if like is None else like
    if reference < 1:
        return number(value, 2)
    return f"{value:,.1f}" if reference < 20 else f"{value:,.0f}"


def duration(value_s: float | None) -> str:
    r"""Write a time with the unit a person would choose.

    >>> duration(0.126), duration(43.8), duration(7200)
    ('126\xa0ms', '43.8\xa0s', '2.0\xa0h')
    """
    if value_s is None or not math.isfinite(value_s):
        return NOT_AVAILABLE
    shown_s = round_significant(value_s)  # 0.9999 is written as 1 s, not as 1,000 ms
    if shown_s < 1:
        return f"{number(value_s * 1e3)}{NBSP}ms"
    if shown_s < 120:
        return f"{number(value_s)}{NBSP}s"
    if shown_s < HOUR_S:
        return f"{number(value_s / 60)}{NBSP}min"
    return f"{hours(value_s / HOUR_S)}{NBSP}h"


def percent(share: float | None) -> str:
    r"""Write a chance as a whole percent that never claims certainty.

    >>> percent(0.884), percent(0.9999), percent(0.0001)
    ('88\xa0%', '>99\xa0%', '<1\xa0%')
    """
    if share is None or not math.isfinite(share):
        return NOT_AVAILABLE
    if share > 0.99:
        return f">99{NBSP}%"
    if share < 0.01:
        return f"<1{NBSP}%"
    return f"{share * 100:.0f}{NBSP}%"


def count(value: float | None) -> str:
    r"""Write a large count with its suffix.

    >>> count(6.74e9), count(1024), count(2e12)
    ('6.74\xa0B', '1,024', '2.00\xa0T')
    """
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    if value < 1e5:
        return f"{value:,.0f}" if value == int(value) or value >= 1000 else number(value)
    shown = round_significant(value)  # 999,999 is written as 1.00 M, not as 1,000 k
    size, suffix = next(
        (size, suffix)
        for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
        if shown >= size
    )
    return f"{number(value / size)}{NBSP}{suffix}"


# A comma separates thousands and nothing else: “1,5” would be read as 15 otherwise.
_COUNT: Final = re.compile(
    r"^\s*([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*)?(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)"
    r"\s*(k|m|b|t|thousand|million|billion|trillion|)\s*$",
    re.IGNORECASE,
)
_SUFFIXES: Final = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def parse_count(text: str, where: str) -> float:
    """Read a count as people write it: ``10e9``, ``10 B``, ``1,024``.

    Raises
    ------
    InvalidInputError
        If the text is no number; `where` names the field.

    >>> parse_count("10 B", "tokens"), parse_count("1,024", "batch")
    (10000000000.0, 1024.0)
    """
    found = _COUNT.match(text)
    try:
        digits = found[1].replace(",", "").replace("_", "") if found else ""
        value = float(digits) * _SUFFIXES[found[2][:1].lower()] if found else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInputError(
            f"“{text.strip()}” is not a number.",
            where=where,
            todo="Write digits, with a suffix if you like: 10e9, 10 B, 1.5 M, 1,024.",
        )
    return value


def data_size(value_bytes: float | None) -> str:
    r"""Write an amount of memory in decimal gigabytes, as accelerators are sold.

    >>> data_size(33.1e9)
    '33.1\xa0GB'
    """
    if value_bytes is None or not math.isfinite(value_bytes):
        return NOT_AVAILABLE
    return f"{number(value_bytes / GB)}{NBSP}GB"


def interval(low: str, high: str) -> str:
    """Join two bounds with an en dash.

    >>> interval("1,050", "1,520")
    '1,050–1,520'
    """
    return f"{low}–{high}"
