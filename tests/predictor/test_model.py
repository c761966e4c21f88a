"""The learned model on the shipped runs: better than physics, honest, and the same every time."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor.core.errors import PredictionError
from advisor.predictor import held_out
from advisor.predictor.costs import START, fit_costs, kind_of
from advisor.predictor.difficulty import NEW_BOTH, NEW_GPU, NEW_MODEL, NEW_SCALE, SEEN
from advisor.predictor.held_out import folds, held_out_residuals
from advisor.predictor.jobs import Jobs
from advisor.predictor.model import PointModel, StepTimeModel
from advisor.predictor.training import TrainingTable, training_table
from advisor.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.advice import Engine
    from advisor.predictor.model import Prediction


@pytest.fixture(scope="module")
def shipped(engine: Engine, engine_data_dir: Path) -> TrainingTable:
    """The runs that the engine was trained on."""
    with Store.open(f"sqlite:///{engine_data_dir}/advisor.db") as store:
        return training_table(store.profiles(), engine.catalog)


@pytest.fixture(scope="module")
def some(shipped: TrainingTable) -> TrainingTable:
    """Every third run: enough to learn from, quick to fit."""
    return shipped.take(np.arange(0, len(shipped.jobs), 3))


@pytest.fixture(scope="module")
def held_fold(some: TrainingTable) -> np.ndarray:
    """A fifth of the configurations, with all their runs."""
    return folds(some.config, 5)[0]


def fit(table: TrainingTable) -> StepTimeModel:
    """Fit with two folds instead of five: a fit takes its time for few rows, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out, "FOLDS", 2)
        return StepTimeModel.fit(table.jobs, table.step_s, table.config, table.source)


@pytest.fixture(scope="module")
def partial(some: TrainingTable, held_fold: np.ndarray) -> StepTimeModel:
    """A model that has not seen them."""
    return fit(some.take(~held_fold))


def error(predicted: np.ndarray, measured: np.ndarray) -> float:
    """Return the median absolute percentage error."""
    return float(np.median(np.abs(predicted / measured - 1)))


def test_most_of_the_shipped_runs_are_used(engine, shipped) -> None:
    assert len(shipped.jobs) == engine.predictor.model.runs
    assert len(shipped.jobs) > 0.9 * engine.runs


def test_the_correction_beats_physics_on_configurations_not_seen(some, held_fold, partial) -> None:
    tested, measured = some.jobs.take(held_fold), some.step_s[held_fold]
    physics = error(partial.point.baseline(tested).total_s, measured)
    corrected = error(partial.predict(tested).step_s, measured)
    assert corrected < 0.2
    assert corrected < 0.6 * physics


def test_intervals_cover_configurations_not_seen(some, held_fold, partial) -> None:
    prediction = partial.predict(some.jobs.take(held_fold))
    measured = some.step_s[held_fold]
    covered = (prediction.low_s <= measured) & (measured <= prediction.high_s)
    assert covered.mean() >= 0.8


def test_intervals_cover_an_accelerator_not_seen(some) -> None:
    v100 = some.jobs.hardware_year == 2017
    model = fit(some.take(~v100))
    prediction = model.predict(some.jobs.take(v100))
    assert set(prediction.difficulty.tolist()) <= {NEW_GPU, NEW_BOTH}
    miss = np.abs(np.log(some.step_s[v100] / prediction.step_s))
    assert (miss <= prediction.log_half_width).mean() >= 0.8


def test_the_parts_sum_to_the_step_and_lie_within_the_bounds(engine, shipped) -> None:
    prediction = engine.predictor.model.predict(shipped.jobs)
    parts = prediction.parts
    total = parts.compute_s + parts.exposed_communication_s + parts.bubble_s + parts.overhead_s
    assert np.isfinite(total).all()
    assert total == pytest.approx(prediction.step_s)
    assert (prediction.low_s < prediction.step_s).all()
    assert (prediction.step_s < prediction.high_s).all()
    physics = engine.predictor.model.point.baseline(shipped.jobs)
    assert prediction.step_s == pytest.approx(physics.total_s * prediction.correction)
    assert prediction.log_sigma * 1.6449 == pytest.approx(prediction.log_half_width, rel=1e-3)


def test_runs_of_the_training_are_seen(engine, shipped) -> None:
    prediction = engine.predictor.model.predict(shipped.jobs)
    assert (prediction.difficulty == SEEN).all()
    assert (prediction.distance <= 1).mean() > 0.99  # points within a gap count as one


def changed(jobs: Jobs, **columns: float) -> Jobs:
    return replace(jobs, **{name: np.full(len(jobs), value) for name, value in columns.items()})


FUTURE = {
    "peak_flops": 2e16, "memory_bytes": 576e9, "memory_bytes_per_s": 2.6e13,
    "link_bytes_per_s": 1.8e12, "network_bytes_per_s": 1.6e12, "hardware_year": 2027.0,
}  # fmt: skip
PAST = {
    "peak_flops": 4.1e12, "memory_bytes": 11e9, "memory_bytes_per_s": 2.2e11,
    "link_bytes_per_s": 1.2e10, "network_bytes_per_s": 1.25e9, "hardware_year": 2013.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(shipped: TrainingTable) -> Jobs:
    """Language models on A100, as they were measured."""
    return shipped.jobs.take(np.flatnonzero(shipped.source == "llm-foundry")[::5])


@pytest.mark.parametrize(
    ("change", "difficulty"),
    [
        (FUTURE, NEW_GPU),
        (PAST, NEW_GPU),
        (PAST | {"params": 2.2e9, "active_params": 2.2e9}, NEW_BOTH),
        ({"data_parallel": 1e5, "global_batch": 2e5}, NEW_SCALE),
        ({"data_parallel": 1e4, "global_batch": 2e4}, SEEN),  # MLPerf has gone there
        ({"family_code": 6.0, "params": 3e8, "active_params": 3e8}, NEW_MODEL),
        ({"params": 2.2e9, "active_params": 2.2e9}, NEW_MODEL),
        ({"stack_code": 3.0}, NEW_MODEL),
    ],
)
def test_what_was_not_seen_has_visibly_wider_intervals(
    engine, measured, change, difficulty
) -> None:
    def widths(jobs: Jobs) -> Prediction:
        return engine.predictor.model.predict(jobs)

    seen, other = widths(measured), widths(changed(measured, **change))
    assert (seen.difficulty == SEEN).all()
    assert (other.difficulty == difficulty).all()
    assert np.isfinite(other.step_s).all()
    wider = other.log_half_width / seen.log_half_width
    assert (wider > 1.05).all(), wider.min()
    assert np.median(wider) > 1.1, np.median(wider)


def test_physics_alone_is_left_far_from_all_data(engine, measured) -> None:
    prediction = engine.predictor.model.predict(changed(measured, **FUTURE, params=1e13))
    near = engine.predictor.model.predict(measured)
    assert np.median(prediction.distance) > 5 * np.median(near.distance) + 1
    far = changed(measured, **{name: 1e6 * value for name, value in FUTURE.items()})
    assert engine.predictor.model.predict(far).correction == pytest.approx(1.0, abs=0.02)


def test_no_jobs_give_no_predictions(engine, measured) -> None:
    prediction = engine.predictor.model.predict(measured.take(np.array([], dtype=int)))
    assert prediction.step_s.shape == prediction.low_s.shape == (0,)


def test_predictions_can_be_taken(engine, measured) -> None:
    prediction = engine.predictor.model.predict(measured)
    some_rows = prediction.take(np.array([3, 1]))
    assert some_rows.high_s.tolist() == prediction.high_s[[3, 1]].tolist()
    assert some_rows.difficulty.tolist() == prediction.difficulty[[3, 1]].tolist()


def test_a_prediction_does_not_depend_on_its_neighbours(engine, measured) -> None:
    together = engine.predictor.model.predict(measured)
    alone = engine.predictor.model.predict(measured.take(np.array([5])))
    assert alone.step_s[0] == pytest.approx(together.step_s[5], rel=1e-9)


def test_two_fits_are_equal_to_the_last_bit(shipped) -> None:
    few = shipped.take(np.arange(0, len(shipped.jobs), 24))
    query = shipped.jobs.take(np.arange(1, len(shipped.jobs), 50))
    first, second = (fit(few).predict(query) for _ in range(2))
    for field in fields(first):
        if field.name != "parts":
            one, other = getattr(first, field.name), getattr(second, field.name)
            assert one.tobytes() == other.tobytes()
    assert first.step_s.tobytes() == second.step_s.tobytes()


def test_runs_of_one_configuration_cannot_make_an_interval(shipped) -> None:
    same = shipped.take(np.flatnonzero(shipped.config == shipped.config[0])[:1].repeat(50))
    with pytest.raises(PredictionError, match="one configuration"):
        StepTimeModel.fit(same.jobs, same.step_s, same.config)


def test_the_difficulty_of_a_held_out_run_is_what_the_rest_says_of_it(some) -> None:
    language = some.take(np.flatnonzero(some.jobs.family_code == 0)[:150])
    held = held_out_residuals(language.jobs, language.step_s, language.config, language.source)
    assert set((held.groups % 4).tolist()) == {0}
    assert set((held.groups // 4).tolist()) <= {SEEN, NEW_SCALE, NEW_MODEL, NEW_GPU, NEW_BOTH}
    # Configurations, models and accelerators once each; the large ones once more.
    large = np.count_nonzero(language.jobs.devices >= 128)
    assert len(held.residual) == 3 * 150 + large
    assert held.strata.shape == (len(held.residual), 2)


def test_folds_keep_groups_whole_and_take_each_once() -> None:
    labels = np.array(list("aabbbcddeeffgg"))
    masks = folds(labels, 3)
    assert np.sum(masks, axis=0).tolist() == [1] * len(labels)
    for mask in masks:
        assert not set(labels[mask]) & set(labels[~mask])
    assert [m.tolist() for m in folds(labels, 3)] == [m.tolist() for m in masks]


def test_the_physics_has_constants_within_their_bounds(engine) -> None:
    for costs in engine.predictor.model.point.costs.values():
        assert 1.0 < costs.arithmetic < 4.1
        assert 0.0 < costs.narrowness < 8.1
        assert 0.0 < costs.layer_pass_s < 4e-3


def test_a_kind_that_few_runs_describe_keeps_the_usual_constants(shipped) -> None:
    kinds = kind_of(shipped.jobs)
    rows = np.concatenate([np.flatnonzero(kinds == 0)[:100], np.flatnonzero(kinds == 3)[:10]])
    jobs = shipped.jobs.take(rows)
    found = fit_costs(jobs, np.log(shipped.step_s[rows]))
    assert found[3] == found[1] == START
    assert found[0] != START


def test_a_point_model_needs_no_interval(some) -> None:
    few = some.take(np.arange(0, len(some.jobs), 5))
    point = PointModel.fit(few.jobs, few.step_s)
    parts, factor, distance = point.predict(few.jobs)
    assert error(parts.total_s, few.step_s) < 0.1
    assert factor.shape == distance.shape == (len(few.jobs),)
