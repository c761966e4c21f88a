"""Questions far from the training data: the answer is visibly less sure than a near one."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import joblib
import numpy as np
import pytest

from advisor.advice.forecast import forecast_on_accelerators
from advisor.predictor import held_out
from advisor.predictor.model import StepTimeModel
from advisor.predictor.runs import FAMILY_CODES
from advisor.predictor.training import TrainingTable, training_table
from advisor.store import Store
from advisor.zoo import build_workload, get

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.advice import Engine

VISIBLY = 1.15


@pytest.fixture(scope="module")
def shipped(engine: Engine, engine_data_dir: Path) -> TrainingTable:
    with Store.open(f"sqlite:///{engine_data_dir}/advisor.db") as store:
        return training_table(store.profiles(), engine.catalog)


def fit(table: TrainingTable, most: int = 500) -> StepTimeModel:
    """Fit to at most so many runs, evenly taken, with two folds: quick, and the same every time."""
    few = table.take(np.linspace(0, len(table.jobs) - 1, min(most, len(table.jobs))).astype(int))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out, "FOLDS", 2)
        return StepTimeModel.fit(few.jobs, few.step_s, few.config, few.source)


def times_wider(model: StepTimeModel, far: TrainingTable, near: TrainingTable) -> float:
    """Return how much wider the typical interval of far runs is."""
    widths = [np.median(model.predict(t.jobs).log_half_width) for t in (far, near)]
    assert np.isfinite(widths).all()
    return float(widths[0] / widths[1])


def test_old_accelerators_leave_the_newest_in_doubt(shipped) -> None:
    year = shipped.jobs.hardware_year
    old, new = shipped.take(year <= 2016), shipped.take(year >= 2024)
    assert min(len(old.jobs), len(new.jobs)) > 100
    assert times_wider(fit(old), new, old) > VISIBLY


def test_a_few_accelerators_leave_ten_thousand_in_doubt(shipped) -> None:
    few = shipped.take(shipped.jobs.devices <= 8)
    k = np.ceil(10_000 / few.jobs.devices)
    many = replace(few.jobs, data_parallel=k * few.jobs.data_parallel,
                   global_batch=k * few.jobs.global_batch)  # fmt: skip
    assert times_wider(fit(few), replace(few, jobs=many), few) > VISIBLY


def test_an_unseen_family_is_in_doubt(shipped) -> None:
    speech = shipped.jobs.family_code == FAMILY_CODES["speech"]
    others = shipped.take(~speech)
    assert speech.sum() > 50
    assert times_wider(fit(others), shipped.take(speech), others) > VISIBLY


def test_the_shipped_predictor_says_less_of_a_network_and_an_accelerator_it_has_not_seen(
    engine: Engine,
) -> None:
    def width(model: str, accelerator: str, count: int) -> float:
        workload = build_workload(get(model), steps=10, global_batch=10_000)
        step = forecast_on_accelerators(accelerator, count, workload, engine).step_time_s
        return float(np.log(step.high / step.low))

    near = width("mpt-7b", "A100-80GB", 8)
    assert width("whisper-large-v3", "A100-80GB", 8) > VISIBLY * near
    assert width("mpt-7b", "Trainium2", 8) > VISIBLY * near


def test_a_repeated_fit_is_the_same_artefact_to_the_last_byte(shipped) -> None:
    def artefact() -> bytes:
        file = io.BytesIO()
        joblib.dump(fit(shipped, 250), file)
        return file.getvalue()

    assert artefact() == artefact()
