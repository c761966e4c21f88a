"""Limits and search options as fields of JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.search.constraints import Constraints
from advisor.search.search import SearchOptions

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def fields_of(given: DataclassInstance) -> dict[str, Any]:
    """Return the fields as JSON has them; sets are sorted, so the same is written the same.

    >>> fields_of(SearchOptions(most_accelerators=8))["most_accelerators"]
    8
    """
    return {field.name: _plain(getattr(given, field.name)) for field in fields(given)}


def limits_from(given: Mapping[str, Any]) -> Constraints:
    """Return the limits that `fields_of` wrote.

    Raises
    ------
    InvalidInputError
        If a limit is unknown to this version, or its value is none.
    """
    return _from(Constraints, given, "limits")


def options_from(given: Mapping[str, Any]) -> SearchOptions:
    """Return the search options that `fields_of` wrote; errors as of `limits_from`."""
    return _from(SearchOptions, given, "options")


def _plain(value: object) -> Any:
    if isinstance(value, AbstractSet):
        return sorted((_plain(one) for one in value), key=str)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in sorted(value.items())}
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return to_jsonable_python(value)


def _from(kind: type[T], given: Mapping[str, Any], where: str) -> T:
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # both are dataclasses
    for name in given:
        if name not in known:
            raise UnknownNameError("limit", name, known, where=where)
    try:
        return TypeAdapter(kind).validate_python(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(f"{first['msg']}.", where=f"{where}.{field}") from None
