"""What every noun shares: frozen, no unknown fields, no NaN, JSON with kind and version."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from advisor.core.errors import InvalidInputError


class Noun(BaseModel):
    """Base of all nouns.

    Units stand in the field names (``_s``, ``_bytes``, ``_flops``, ``_usd``, ``_usd_per_h``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    json_version: ClassVar[int] = 1
    only_if_any: ClassVar[tuple[str, ...]] = ()  # fields that JSON leaves out where empty

    @classmethod
    def make(cls, **fields: Any) -> Self:
        """Build from fields given by a user.

        Raises
        ------
        InvalidInputError
            If a field is missing, unknown or out of range; the message names the field.
        """
        return cls._read(fields)

    @classmethod
    def _read(cls, fields: dict[str, Any]) -> Self:
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise _explain(cls.__name__, error) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as what JSON has: numbers, text, lists, dictionaries, None."""
        fields = self.model_dump(mode="json")
        return {k: v for k, v in fields.items() if v or k not in self.only_if_any}

    def to_json(self) -> str:
        """Return JSON text with ``kind`` and ``version`` beside the fields."""
        head = {"kind": type(self).__name__, "version": self.json_version}
        return json.dumps(head | self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidInputError
            If the text is no JSON, of another kind or version, or breaks an invariant.
        """
        name = cls.__name__
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"this is not JSON ({error}).", where=name) from None
        if not isinstance(fields, dict):
            raise InvalidInputError("expected a JSON object.", where=name)
        kind = fields.pop("kind", None)
        version = fields.pop("version", None)
        if kind != name:
            raise InvalidInputError(f"this JSON holds “{kind}”, not “{name}”.", where=name)
        if version != cls.json_version:
            raise InvalidInputError(
                f"version {version!r} cannot be read; this program reads {cls.json_version}.",
                where=name,
                todo="Export it again with this version of the advisor.",
            )
        return cls._read(fields)


def _explain(name: str, error: ValidationError) -> InvalidInputError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    given = first.get("input")
    shown = f" (given: {given!r})" if isinstance(given, str | int | float) else ""
    return InvalidInputError(f"{message}{shown}.", where=f"{name}.{field}" if field else name)
