"""The measured runs nearest to a prediction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine
from advisor.advice.nearest import SHOWN, Measured
from advisor.domain import Profile, Provenance
from advisor.search.search import Machines, SearchOptions, evaluate
from advisor.store import Store


@pytest.fixture
def measured(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    return Measured.load(engine)


def test_a_language_model_on_a100_rests_on_language_models_of_its_generation(
    engine: Engine, measured: Measured
) -> None:
    workload = zoo.build_workload(
        zoo.get("mpt-7b"), tokens=1e9, sample_size=2048, global_batch=1024
    )
    only = Machines(cloud="azure", instance_type="Standard_ND96amsr_A100_v4", count=4)
    evaluated = evaluate(workload, engine.catalog, engine.predictor, SearchOptions(), only)
    runs = measured.nearest(engine, evaluated.best.jobs.take(np.array([0])))
    assert len(runs) == SHOWN
    assert runs["distance"].is_monotonic_increasing
    assert runs["accelerator"].str.contains("A100|H100").all()
    assert np.isfinite(runs[["measured_s", "predicted_s"]].to_numpy()).all()
    assert runs["url"].str.startswith("https://").all()


def test_a_run_is_nearest_to_itself(engine: Engine, measured: Measured) -> None:
    assert len(measured.runs) == engine.predictor.model.runs
    found = measured.nearest(engine, measured.jobs.take(np.array([100])))
    assert found["distance"].iloc[0] == pytest.approx(0, abs=1e-9)
    for name in ("model", "accelerator", "accelerators", "global_batch"):
        assert found[name].iloc[0] == measured.runs[name].iloc[100]


def test_runs_that_the_predictor_has_not_learnt_yet_are_not_told_as_learnt(
    engine: Engine, engine_copy: Path
) -> None:
    own = Profile(
        model="mpt-7b", family="language", params=6.7e9, layers=32, hidden=4096, sample_size=2048,
        accelerator="A100-80GB", accelerators=8, global_batch=64, step_time_s=10.0,
        provenance=Provenance(source="own trace"),
    )  # fmt: skip
    with Store.open() as store:
        store.add([own])
    measured = Measured.load(engine)
    assert "own trace" not in set(measured.runs["source"])
    assert len(measured.runs) == engine.predictor.model.runs
