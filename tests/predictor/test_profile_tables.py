"""The shipped runs: every row licensed, none twice, units plausible."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.core.paths import TABLES_DIR
from advisor.predictor.model_facts import model_facts
from advisor.predictor.runs import FAMILY_CODES

PERMISSIVE = {"Apache-2.0", "MIT", "MIT-0", "BSD-3-Clause"}
UNLICENSED = {"sia-sosp23", "lambda-pytorch", "dawnbench", "nvidia-dle"}


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    return pd.read_csv(TABLES_DIR / "profiles" / "runs.csv")


@pytest.fixture(scope="module")
def sources() -> pd.DataFrame:
    return pd.read_csv(TABLES_DIR / "profiles" / "sources.csv")


def test_every_row_has_a_source_with_a_permissive_licence(runs, sources) -> None:
    licence = runs["source"].map(sources.set_index("source")["licence"])
    assert set(licence.unique()) <= PERMISSIVE
    assert sources["source"].is_unique
    assert sources["url"].str.startswith("https://github.com/").all()


def test_every_row_has_an_address_in_its_source(runs, sources) -> None:
    repository = runs["source"].map(sources.set_index("source")["url"])
    inside = [url.startswith(home) for url, home in zip(runs["url"], repository, strict=True)]
    # A benchmark's rounds and a mirror may live in a sister repository of the same owner.
    assert np.mean(inside) > 0.9
    assert runs["url"].str.startswith("https://").all()


def test_sources_without_a_licence_are_absent(runs, sources) -> None:
    assert not UNLICENSED & set(runs["source"])
    assert not UNLICENSED & set(sources["source"])


def test_no_source_is_listed_without_rows(runs, sources) -> None:
    assert set(sources["source"]) == set(runs["source"])


def test_no_run_is_there_twice(runs) -> None:
    assert not runs.drop(columns="url").duplicated().any()


def test_families_are_known(runs) -> None:
    assert set(runs["family"]) <= set(FAMILY_CODES)


@pytest.mark.parametrize(
    ("column", "low", "high", "may_be_blank"),
    [
        ("step_time_s", 1e-4, 3600, False),
        ("params", 1e4, 2e12, True),
        ("layers", 1, 200, True),
        ("hidden", 16, 30_000, True),
        ("sample_size", 1, 200_000, True),
        ("forward_flops_per_sample", 1e5, 1e18, True),
        ("year", 2016, 2027, False),
        ("accelerators", 1, 20_000, False),
        ("nodes", 1, 3000, True),
        ("global_batch", 1, 1e7, True),
        ("micro_batch", 1, 1e5, True),
    ],
)
def test_units_are_plausible(runs, column, low, high, may_be_blank) -> None:
    values = runs[column]
    assert may_be_blank or values.notna().all()
    assert values.dropna().between(low, high).all()


def test_a_replica_has_no_more_machines_than_accelerators(runs) -> None:
    known = runs.dropna(subset=["nodes"])
    assert (known["nodes"] <= known["accelerators"]).all()


def test_facts_of_models_are_unique_and_plausible() -> None:
    facts = model_facts()
    assert facts.index.is_unique
    assert facts["source"].notna().all()
    gmacs, params = facts["forward_gmacs"].dropna(), facts["params"].dropna()
    assert gmacs.between(1e-4, 1e5).all()
    assert params.between(1e3, 2e12).all()
    assert facts["active_params"].dropna().le(facts["params"].reindex(
        facts["active_params"].dropna().index)).all()  # fmt: skip
