"""The many ways people and drivers write the name of an accelerator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.core.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterable

_VENDOR_WORDS: Final = frozenset(
    {"nvidia", "tesla", "geforce", "amd", "instinct", "google", "aws", "intel", "habana", "huawei"}
)


def spelled(name: str) -> str:
    """Return a name without vendor, case and separators, so that spellings meet.

    >>> spelled("NVIDIA_A100-SXM4-40GB") == spelled("a100 sxm4 40gb")
    True
    """
    words = re.findall(r"[a-z0-9]+", name.casefold())
    return "".join(word for word in words if word not in _VENDOR_WORDS)


def lookup_table(names: Iterable[str], aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map every known spelling to its canonical name.

    Raises
    ------
    CatalogError
        If a spelling would mean two accelerators or an alias leads nowhere.
    """
    canonical = list(names)
    table = {spelled(name): name for name in canonical}
    for alias, name in aliases:
        if name not in canonical:
            raise CatalogError(
                f"alias “{alias}” leads to “{name}”, which is no accelerator.",
                where="aliases.csv",
                todo="Correct the name.",
            )
        if table.setdefault(spelled(alias), name) != name:
            raise CatalogError(
                f"alias “{alias}” means both {table[spelled(alias)]} and {name}.",
                where="aliases.csv",
                todo="Keep one of the two rows.",
            )
    return table
