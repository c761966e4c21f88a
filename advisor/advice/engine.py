"""Everything an answer needs, opened once: catalog, store, predictor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from advisor import catalog as catalogs
from advisor.core.paths import data_dir
from advisor.predictor import Predictor
from advisor.search.own_runs import calibration_of
from advisor.store import Store, seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog import Catalog
    from advisor.domain import OwnRuns, Profile, Workload


@dataclass(frozen=True, slots=True)
class Engine:
    """The loaded catalog, the seeded store's size, and the predictor trained on it."""

    catalog: Catalog
    predictor: Predictor
    runs: int

    def calibrated(self, runs: Sequence[Profile], job: Workload | None = None) -> Engine:
        """Return the engine whose predictions the user's own runs calibrate.

        Everything that takes an engine (`advise`, `evaluate`, forecasts, the current machines)
        then answers with them; ``engine.predictor.calibration.runs`` says which runs count and
        why others do not. Runs given before are forgotten; without any, nothing is calibrated.

        Parameters
        ----------
        runs : sequence of Profile
            Measured runs, of this job or of others.
        job : Workload, optional
            The job asked for, if its model is one that only its configuration describes.
        """
        model = self.predictor.model
        fitted = calibration_of(runs, model, self.catalog, job) if runs else None
        return replace(self, predictor=replace(self.predictor, calibration=fitted))

    @property
    def own_runs(self) -> OwnRuns | None:
        """The user's runs that calibrate the predictions, None where none were given."""
        calibration = self.predictor.calibration
        return None if calibration is None else calibration.runs

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
