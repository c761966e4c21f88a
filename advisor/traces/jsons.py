"""Small JSON documents, read whole: trainer states, summaries, metadata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from advisor.core.errors import TraceError

if TYPE_CHECKING:
    from advisor.traces.source import Source

_HIGHEST: Final = 1e30


def document(source: Source) -> dict[str, Any]:
    """Return a JSON object; numbers that JSON does not know (NaN, Infinity) are accepted.

    Raises
    ------
    TraceError
        If the file is no JSON object; the message says where it breaks.
    """
    text = source.content().decode("utf-8-sig", errors="replace")
    try:
        found = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg
        what = "the file is cut off" if ended or source.cut_off else f"not valid JSON ({error.msg})"
        raise TraceError(
            f"{what}.",
            where=f"{source.name}, line {error.lineno}",
            todo="Copy it again from where it was written.",
        ) from None
    except (RecursionError, ValueError) as error:
        raise TraceError(
            f"not readable JSON ({type(error).__name__}).",
            where=source.name,
            todo="Copy it again from where it was written.",
        ) from None
    if not isinstance(found, dict):
        raise TraceError(
            "expected a JSON object.", where=source.name, todo="Upload the file as it was written."
        )
    return found


def number(value: object) -> float | None:
    """Return a number, None for anything else and for what no measurement gives.

    >>> number(3), number("1e3"), number(float("nan")), number(1e300), number("x"), number(True)
    (3.0, 1000.0, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < _HIGHEST else None


def above_zero(value: object) -> float | None:
    """Return a number above 0, None for anything else; ratios of two are numbers, too."""
    found = number(value)
    return found if found is not None and found > 1 / _HIGHEST else None
