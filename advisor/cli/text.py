"""Text of the user, safe for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return text without the control sequences that a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in text)
