"""In which country a region lies, and which countries a person means: “EU”, “Germany”, “DE”."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from advisor.core.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.catalog import Catalog

# Member states, european-union.europa.eu/principles-countries-history/eu-countries_en.
EU: Final = frozenset(
    ("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT",
     "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK")
)  # fmt: skip
# With Iceland, Liechtenstein and Norway, www.efta.int/eea.
EEA: Final = EU | {"IS", "LI", "NO"}
GROUPS: Final = {"EU": EU, "EEA": EEA}
ALIASES: Final = {"UK": "GB", "USA": "US", "UAE": "AE"}


@lru_cache(maxsize=2)
def countries_by_region(catalog: Catalog) -> dict[tuple[str, str], str]:
    """Return the country (ISO 3166-1 alpha-2) of every region that a source places."""
    frame = catalog.tables.regions
    if not len(frame):
        return {}
    places = zip(frame["cloud"], frame["region"], strict=True)
    return dict(zip(places, frame["country"], strict=True))


@lru_cache(maxsize=2)
def country_names(catalog: Catalog) -> dict[str, str]:
    """Return the countries with regions by their code, in the order of their names."""
    frame = catalog.tables.regions
    if not len(frame):
        return {}
    pairs = set(zip(frame["country"], frame["country_name"], strict=True))
    return dict(sorted(pairs, key=lambda pair: pair[1]))


def countries_named(names: Iterable[str], catalog: Catalog) -> frozenset[str] | None:
    """Return the codes of countries that a person names, None for no names.

    Parameters
    ----------
    names : iterable of str
        Codes or names of countries in any case, ``EU`` or ``EEA``.

    Raises
    ------
    UnknownNameError
        If no region lies in a country of that name; offers the nearest.
    """
    known = country_names(catalog)
    by_folded = {name.casefold(): code for code, name in known.items()}
    by_folded |= {code.casefold(): code for code in (*known, *EEA)}
    by_folded |= {alias.casefold(): code for alias, code in ALIASES.items()}
    found: set[str] = set()
    for name in names:
        group = GROUPS.get(name.upper())
        if group is not None:
            found |= group
        elif name.casefold() in by_folded:
            found.add(by_folded[name.casefold()])
        else:
            raise UnknownNameError("country", name, [*GROUPS, *known.values(), *known])
    return frozenset(found) or None


def in_words(countries: frozenset[str]) -> str:
    """Return countries as a person says them: the name of their group, else their codes.

    >>> in_words(EU), in_words(frozenset({"DE", "CH"}))
    ('EU', 'CH, DE')
    """
    for name, group in GROUPS.items():
        if countries == group:
            return name
    return ", ".join(sorted(countries))
