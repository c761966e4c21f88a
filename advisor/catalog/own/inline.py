"""Machines that a question names: “2 x 8 H100 at 0.9 over 400 Gbit/s”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from advisor.catalog.own import cells
from advisor.catalog.own.tables import (
    DEAREST_USD_PER_H,
    FREE_USD_PER_H,
    MACHINES,
    MOST_GBIT_PER_S,
)
from advisor.core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.own.known import Known
    from advisor.catalog.own.table import Row

WHERE: Final = "own machines"
HOW: Final = (
    "Write 2 x 8 H100 at 0.9 over 400 Gbit/s: machines, accelerators of each, USD per "
    "accelerator-hour (0 if left out), and the network between machines."
)
_NUMBER: Final = r"[0-9]{1,6}(?:\.[0-9]{1,4})?"
_WORDS: Final = re.compile(
    rf"(?P<machines>[0-9]{{1,5}})\s*[x×*]\s*(?P<accelerators>[0-9]{{1,3}})\s*[x×*]?\s+"
    rf"(?P<accelerator>\S.*?)"
    rf"(?:\s+(?:at|@)\s*\$?(?P<usd>{_NUMBER})\s*(?:USD)?(?:/h)?)?"
    rf"(?:,?\s+over\s+(?P<gbit>{_NUMBER})\s*Gbit/s)?",
    re.IGNORECASE,
)


def all_named(texts: Iterable[str], known: Known) -> list[Row]:
    """Return a row of every text; machines of the same accelerators are numbered, none is lost.

    Raises
    ------
    InvalidInputError
        As of `machines_named`.
    """
    rows = [machines_named(text, known) for text in texts]
    names = [str(row["name"]) for row in rows]
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [
        row | {"name": f"{name}-{same + 1}" if same else name}
        for row, name, same in zip(rows, names, before, strict=True)
    ]


def machines_named(text: str, known: Known) -> Row:
    """Return a row of the list of machines; its price is per machine.

    Raises
    ------
    InvalidInputError
        If the text is not of that form, the accelerator is unknown, or a number too large.

    >>> from advisor.catalog.own.known import known
    >>> row = machines_named("2 x 8 H100 at $0.9/h", known())
    >>> row["name"], row["available"], row["usd_per_h"]
    ('own-8xH100', 2.0, 7.2)
    """
    found = _WORDS.fullmatch(text.strip())
    if found is None:
        raise InvalidInputError(f"“{cells.shortened(text)}” is not clear.", where=WHERE, todo=HOW)
    accelerator = cells.accelerator(found["accelerator"], known)
    each = cells.whole(128, "accelerators")(found["accelerators"], known)
    count = cells.whole(20_000, "machines")(found["machines"], known)
    usd_per_h = max(round(float(found["usd"] or 0) * each, 9), FREE_USD_PER_H)
    gbit = float(found["gbit"]) if found["gbit"] else None
    if usd_per_h > DEAREST_USD_PER_H or (gbit is not None and not 1 <= gbit <= MOST_GBIT_PER_S):
        raise InvalidInputError(
            f"“{cells.shortened(text)}” is not possible.",
            where=WHERE,
            todo=f"A machine costs {DEAREST_USD_PER_H:,} USD/h at most, its network has 1 to "
            f"{MOST_GBIT_PER_S:,} Gbit/s.",
        )
    row: Row = dict.fromkeys(MACHINES.header)
    return row | {
        "name": f"own-{each:g}x{accelerator}",
        "accelerator": accelerator,
        "accelerators": each,
        "usd_per_h": usd_per_h,
        "available": count,
        "network_gbit_per_s": gbit,
    }
