"""Text on the page."""

from __future__ import annotations

_MARKUP = frozenset(r"\`*_{}[]()<>#+!|$~:")


def plain(text: str) -> str:
    """Escape what markdown would interpret, in text that a user or a table gave."""
    return "".join(f"\\{letter}" if letter in _MARKUP else letter for letter in text)
