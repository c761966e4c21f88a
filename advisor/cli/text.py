"""Text of the user, safe for a terminal."""

from __future__ import annotations

from typing import Final

from advisor.core.units import NBSP

HARMLESS: Final = f"\n\t{NBSP}"


def printable(text: str) -> str:
    """Return text without the control sequences that a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in HARMLESS else "?" for sign in text)
