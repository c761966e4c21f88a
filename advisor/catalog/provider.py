"""The contract of a source of prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from advisor.core.registry import Registry

if TYPE_CHECKING:
    from advisor.catalog.tables import CatalogTables


class PriceProvider(Protocol):
    """A source of machines and prices. One file per provider in `advisor.catalog.providers`."""

    name: str

    def stamp(self) -> str:
        """Return what differs where `fetch` would give something else; cheap, without reading."""

    def fetch(self) -> CatalogTables:
        """Return the tables, in the columns that `advisor.testing.catalog` checks.

        Raises
        ------
        CatalogError
            If the source cannot be reached or its answer cannot be used. The catalog then keeps
            what it had before and says so.
        """


PROVIDERS: Final[Registry[type[PriceProvider]]] = Registry(
    "price provider", "advisor.catalog.providers"
)
