"""Checked access to the fields of a model configuration.

Problems are collected, so that one message names all of them.
"""

from __future__ import annotations

import math
from typing import Any, Final

from advisor.core.errors import InvalidInputError

LARGEST_WIDTH: Final = 1_000_000
LARGEST_LAYERS: Final = 10_000
LARGEST_VOCAB: Final = 10_000_000
LARGEST_LENGTH: Final = 100_000_000
MOST_STAGES: Final = 16
SHOWN_CHARACTERS: Final = 40
PLACEHOLDER: Final = 1
"""Stands for a bad field until `Fields.check` reports it."""


class Fields:
    """The fields of a configuration.

    Parameters
    ----------
    values : dict
        The JSON object.
    kind : str
        Its model type, for messages.
    """

    def __init__(self, values: dict[str, Any], kind: str) -> None:
        self._values = values
        self._kind = kind
        self._problems: list[str] = []
        self._conflicts: list[str] = []

    def count(
        self, *names: str, most: int = LARGEST_WIDTH, default: int | None = None, least: int = 1
    ) -> int:
        """Return the whole number that stands under the first of `names` that is there.

        A missing or null field has the value `default`; without a default it is a problem.
        """
        name, value = self._first(names)
        if value is None:
            if default is None:
                self._problems.append(f"“{names[0]}” is missing")
                return PLACEHOLDER
            return default
        whole = _whole(value)
        if whole is None or not least <= whole <= most:
            self._problems.append(
                f"“{name}” must be a whole number from {least:,} to {most:,}, not {_show(value)}"
            )
            return PLACEHOLDER
        return whole

    def counts(self, name: str, default: tuple[int, ...], *, most: int) -> tuple[int, ...]:
        """Return a list of whole numbers from 1 to `most`, one for each stage of a network."""
        value = self._values.get(name)
        if value is None:
            return default
        wholes = [_whole(item) for item in value] if isinstance(value, list) else []
        good = tuple(whole for whole in wholes if whole and 0 < whole <= most)
        if not 0 < len(wholes) <= MOST_STAGES or len(good) != len(wholes):
            self._problems.append(
                f"“{name}” must be a list of up to {MOST_STAGES} whole numbers from 1 to "
                f"{most:,}, not {_show(value)}"
            )
            return default
        return good

    def text(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return one of the `allowed` words."""
        value = self._values.get(name)
        if value is None:
            return default
        if value not in allowed:
            words = " or ".join(f"“{word}”" for word in allowed)
            self._problems.append(f"“{name}” must be {words}, not {_show(value)}")
            return default
        return str(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self._problems.append(f"“{name}” must be true or false, not {_show(value)}")
            return default
        return value

    def length(self, name: str) -> int:
        """Return the entries of an object or list, 0 if it is missing."""
        value = self._values.get(name)
        return len(value) if isinstance(value, dict | list) else 0

    def has(self, name: str) -> bool:
        """Return whether a field is there and not null."""
        return self._values.get(name) is not None

    def require(self, holds: bool, conflict: str) -> None:
        """Note a conflict between fields unless it `holds`.

        Conflicts are reported only where each field by itself is fine, because a bad field is
        replaced by a placeholder.
        """
        if not holds:
            self._conflicts.append(conflict)

    def require_heads(self, width: int, heads: int) -> None:
        """Note a conflict if a width cannot be divided among attention heads."""
        self.require(
            width % heads == 0, f"a width of {width} cannot be divided among {heads} heads"
        )

    def check(self) -> None:
        """Report all problems met so far.

        Raises
        ------
        InvalidInputError
            If there is any.
        """
        problems = self._problems or self._conflicts
        if problems:
            raise InvalidInputError(
                "; ".join(problems) + ".",
                where=f"config.json ({self._kind})",
                todo="Paste the config.json of the model as its repository has it.",
            )

    def _first(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """Return the first of `names` that is there and not null, with its value."""
        for name in names:
            if self._values.get(name) is not None:
                return name, self._values[name]
        return names[0], None


def _whole(value: object) -> int | None:
    """Return a whole number, also one written as 4096.0, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        return None
    return int(value)


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
