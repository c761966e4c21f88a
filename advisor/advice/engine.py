"""Everything an answer needs, opened once: catalog, store, predictor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from advisor import catalog as catalogs
from advisor.core.paths import data_dir
from advisor.predictor import Predictor
from advisor.store import Store, seed

if TYPE_CHECKING:
    from advisor.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Engine:
    """The loaded catalog, the seeded store's size, and the predictor trained on it."""

    catalog: Catalog
    predictor: Predictor
    runs: int

    @classmethod
    def open(cls, catalog: Catalog | None = None) -> Self:
        """Load the catalog, seed the store once, train or load the predictor.

        Parameters
        ----------
        catalog : Catalog, optional
            One that is loaded already; by default the newest.

        Raises
        ------
        AdvisorError
            If a table or the store is damaged, or the data directory cannot be written.
        """
        catalog = catalog or catalogs.load()
        directory = data_dir()
        with Store.open() as store:
            seed(store)
            predictor = Predictor.load(store, catalog, directory)
            runs = store.count()
        return cls(catalog=catalog, predictor=predictor, runs=runs)
