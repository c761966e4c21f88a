"""Text of the user, safe for a terminal."""

from __future__ import annotations

from typing import Final

from rich.markup import escape

from advisor.core.units import NBSP

HARMLESS: Final = f"\n\t{NBSP}"


def printable(text: str) -> str:
    """Return text without the control sequences that a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in HARMLESS else "?" for sign in text)


def plain(text: object) -> str:
    """Return text that a rich table or console shows as it is: no control signs, no markup."""
    return escape(printable(str(text)))
