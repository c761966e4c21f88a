"""Machines as a person writes them: a count and an instance type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.core.errors import InvalidInputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog
    from advisor.domain import InstanceType

MOST_MACHINES: Final = 20_000
_COUNT: Final = re.compile(r"^([0-9]{1,9})(?![0-9.,])\s*(\S.*)$", re.DOTALL)
_TIMES: Final = re.compile(r"^[xX×*]\s*(\S.*)$", re.DOTALL)


def parse_machines(text: str, catalog: Catalog) -> tuple[int, InstanceType]:
    """Read ``4 x p4d.24xlarge``, also with a cloud: ``2 × azure/Standard_NC24s_v3``.

    Raises
    ------
    InvalidInputError
        If the text has another form, or the machine is unknown or ambiguous.
    """
    found = _COUNT.match(text.strip())
    count = int(found[1]) if found else 0
    if found is None or not 1 <= count <= MOST_MACHINES:
        raise InvalidInputError(
            f"“{text.strip()}” is not a number of machines.",
            todo=f"Write a count up to {MOST_MACHINES:,} and the instance type: 4 x p4d.24xlarge.",
        )
    unknown: UnknownNameError | None = None
    for name in _readings(found[2]):
        try:
            return count, _machine(name, catalog)
        except UnknownNameError as error:
            unknown = unknown or error
    raise unknown or InvalidInputError(f"“{text}” names no machine.")


def _readings(rest: str) -> Iterator[str]:
    """Yield what may be the name: “x1e.32xlarge” has an x of its own."""
    if times := _TIMES.match(rest):
        yield times[1]
    yield rest


def _machine(name: str, catalog: Catalog) -> InstanceType:
    cloud, slash, own = name.partition("/")
    if slash:
        return catalog.machine(cloud.strip(), own.strip())
    try:
        return catalog.find_machine(name)
    except UnknownNameError:
        raise
    except InvalidInputError as error:  # several clouds have it
        raise InvalidInputError(
            error.what, todo=f"Write the cloud before it: 2 x CLOUD/{name}."
        ) from None
