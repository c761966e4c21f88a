"""A search without training: the catalog as shipped, and a predictor that is physics alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor import catalog as catalogs
from advisor import zoo
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import KINDS, START, costs_of
from advisor.predictor.model import Prediction
from advisor.search.search import Evaluated, SearchOptions, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.domain import Workload
    from advisor.predictor.compute import ComputeCosts
    from advisor.predictor.jobs import Jobs

HALF_WIDTH = 0.4


@dataclass(frozen=True)
class Physics:
    """What the search asks of a predictor, without a correction."""

    costs: dict[int, ComputeCosts]
    calibration: None = None

    @property
    def model(self) -> Physics:
        return self

    @property
    def point(self) -> Physics:
        return self

    def predict(self, jobs: Jobs) -> Prediction:
        ones = np.ones(len(jobs))
        return Prediction(
            parts=step_columns(jobs, costs_of(jobs, self.costs)),
            correction=ones,
            log_sigma=ones * HALF_WIDTH / 1.6448536269514722,
            log_half_width=ones * HALF_WIDTH,
            difficulty=ones.astype(int),
            distance=ones,
        )


@pytest.fixture(name="physics", scope="session")
def physics_fixture() -> Physics:
    return Physics(dict.fromkeys(range(len(KINDS)), START))


@pytest.fixture(name="catalog", scope="session")
def catalog_fixture() -> Catalog:
    return catalogs.load()


@pytest.fixture(name="llama", scope="session")
def llama_fixture() -> Workload:
    return zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )


@pytest.fixture(name="table", scope="session")
def table_fixture(llama: Workload, catalog: Catalog, physics: Physics) -> Evaluated:
    """The whole catalog searched for Llama-2-7B; not to be changed."""
    return evaluate(llama, catalog, physics, SearchOptions())


@pytest.fixture(name="catalog_of", scope="session")
def catalog_of_fixture(catalog: Catalog) -> Callable[..., Catalog]:
    """Makes a catalog of some instance types only."""

    def make(*instance_types: str) -> Catalog:
        offers, machines = catalog.offers, catalog.machines
        tables = replace(
            catalog.tables,
            offers=offers[offers["instance_type"].isin(instance_types)].reset_index(drop=True),
            machines=machines[machines["instance_type"].isin(instance_types)].reset_index(
                drop=True
            ),
        )
        return replace(catalog, tables=tables)

    return make
