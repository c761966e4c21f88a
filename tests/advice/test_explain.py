"""A prediction opened: factors and parts that give the step, and the runs it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor import zoo
from advisor.advice.explain import (
    differences_words,
    distance_sentence,
    factors_sentence,
    nearness_of,
)
from advisor.advice.forecast import forecast_on_machines
from advisor.advice.nearest import SHOWN, Measured
from advisor.domain import Explanation, Profile, Provenance

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.advice import Engine
    from advisor.domain import Forecast, Workload

MACHINES = "2 x p4d.24xlarge"


@pytest.fixture
def measured(engine: Engine, engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    return Measured.load(engine)


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(zoo.get("mpt-7b"), tokens=1e9, sample_size=2048, global_batch=1024)


def explained(forecast: Forecast) -> Explanation:
    assert forecast.explanation is not None
    return forecast.explanation


def own_run(forecast: Forecast, factor: float) -> Profile:
    return Profile.model_validate(
        {
            "model": "mpt-7b",
            "family": "language",
            "accelerator": forecast.accelerator,
            "accelerators": forecast.accelerators,
            "nodes": forecast.machines,
            "global_batch": 1024,
            "sample_size": 2048,
            "precision": "bf16",
            "step_time_s": factor * forecast.step_time_s.value,
            "provenance": Provenance(source="own trace"),
        }
    )


def test_factors_and_parts_give_the_step(workload, engine, measured) -> None:
    forecast = forecast_on_machines(MACHINES, workload, engine, measured)
    found = explained(forecast)
    assert found.step_s == pytest.approx(forecast.step_time_s.value)
    assert found.physics_s * found.learned_factor == pytest.approx(found.step_s)
    assert found.parts.total_s == pytest.approx(found.step_s)
    assert (found.own_factor, found.own_runs) == (1.0, ())
    assert 0 < found.kept_share <= 1


def test_the_nearest_runs_are_told_with_their_distance(workload, engine, measured) -> None:
    found = explained(forecast_on_machines(MACHINES, workload, engine, measured))
    assert len(found.nearest) == SHOWN
    distances = [run.distance for run in found.nearest]
    assert distances == sorted(distances)
    assert found.distance == distances[0]
    assert found.nearness in distance_sentence(found)
    for run in found.nearest:
        assert run.samples_per_s == pytest.approx(run.global_batch / run.measured_s)
        assert "model" in run.differs or run.model.lower() == "mpt-7b"
        assert differences_words(run)


@pytest.mark.parametrize(
    ("distance", "word"),
    [(0.0, "as good as measured"), (0.9, "very near"), (2.9, "near"), (19.0, "far"),
     (1e9, "very far")],
)  # fmt: skip
def test_every_distance_has_a_word(distance, word) -> None:
    assert nearness_of(distance) == word


def test_own_runs_and_what_each_moves_multiply_to_their_factor(workload, engine, measured) -> None:
    before = forecast_on_machines(MACHINES, workload, engine)
    runs = [own_run(before, 1.3), own_run(before, 1.4).model_copy(update={"global_batch": 512})]
    after = forecast_on_machines(MACHINES, workload, engine.calibrated(runs), measured)
    found = explained(after)
    assert len(found.own_runs) == 2
    product = found.software_factor * np.prod([share.factor for share in found.own_runs])
    assert product == pytest.approx(found.own_factor)
    assert found.own_factor == pytest.approx(after.step_time_s.value / before.step_time_s.value)
    assert found.own_factor > 1.1
    assert "your 2 runs" in factors_sentence(found)


def test_factors_that_do_not_give_the_step_are_refused(workload, engine, measured) -> None:
    found = explained(forecast_on_machines(MACHINES, workload, engine, measured))
    with pytest.raises(ValueError, match="do not give the whole"):
        Explanation(**dict(found) | {"learned_factor": 2 * found.learned_factor})


def test_without_measured_runs_nothing_is_explained(workload, engine) -> None:
    assert forecast_on_machines(MACHINES, workload, engine).explanation is None
