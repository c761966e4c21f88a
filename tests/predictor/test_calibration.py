"""Calibration by own runs, on a model whose shares are chosen so that results can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_examples import any_job, make

from advisor.domain import Profile, Provenance
from advisor.predictor.baseline import StepColumns
from advisor.predictor.calibration import Calibration
from advisor.predictor.components import VarianceComponents
from advisor.predictor.jobs import Jobs
from advisor.predictor.model import Prediction
from advisor.predictor.own_runs import OwnRunsTable

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGMA, REPEAT, PREDICTED_S = 0.5, 0.1, 10.0
COMPONENTS = VarianceComponents(np.array([0.1, 0.1, 0.15, 0.35, 0.3]), REPEAT)
PROFILE = Profile(
    model="a decoder", family="language", accelerator="A100-80GB", accelerators=8,
    global_batch=64, step_time_s=1.0, provenance=Provenance(source="own trace"),
)  # fmt: skip


def predicted(jobs: Jobs, sigma: float = SIGMA) -> Prediction:
    """Ten seconds for everything, of which eight are computing."""
    ones = np.ones(len(jobs))
    return Prediction(
        parts=StepColumns(8 * ones, 1 * ones, 0 * ones, 1 * ones), correction=2 * ones,
        log_sigma=sigma * ones, log_half_width=2 * sigma * ones,
        difficulty=np.zeros(len(jobs), dtype=int), distance=ones,
    )  # fmt: skip


def job(**changes: Any) -> Jobs:
    return make(**({"global_batch": 64.0} | changes))


def fitted(runs: Sequence[tuple[Jobs, float]], sigma: float = SIGMA) -> Calibration:
    """Return the calibration by runs of these jobs with these measured steps [s]."""
    jobs = Jobs.concatenate([run for run, _ in runs])
    steps = np.array([step for _, step in runs])
    profiles = tuple(PROFILE.model_copy(update={"step_time_s": step}) for _, step in runs)
    table = OwnRunsTable(profiles, jobs, steps, ())
    return Calibration.fit(table, predicted(jobs, sigma), COMPONENTS)


def moved(runs: Sequence[tuple[Jobs, float]], target: Jobs, sigma: float = SIGMA) -> Prediction:
    return fitted(runs, sigma).apply(target, predicted(target, sigma))


def share(after: Prediction, measured_s: float) -> float:
    """Return how far the prediction has moved towards a measured step, on the logarithm."""
    way = np.log(after.step_s[0] / PREDICTED_S) / np.log(measured_s / PREDICTED_S)
    return float(way)


def test_one_run_of_the_same_job_moves_the_prediction_nearly_there() -> None:
    latent = SIGMA**2 - REPEAT**2
    assert share(moved([(job(), 15.0)], job()), 15.0) == pytest.approx(latent / SIGMA**2)


def test_another_batch_moves_it_by_the_shared_part_and_more_runs_nearly_all_the_way() -> None:
    other = [(job(global_batch=64.0 * 2**i), 15.0) for i in range(1, 6)]
    ways = [share(moved(other[:k], job()), 15.0) for k in (1, 3, 5)]
    assert 0.55 < ways[0] < 0.65 < ways[1] < ways[2] < 1.0
    assert ways[2] > 0.75


def test_a_run_on_another_accelerator_moves_it_little() -> None:
    way = share(moved([(job(memory_bytes=40e9), 15.0)], job()), 15.0)
    assert way == pytest.approx(0.25 * (SIGMA**2 - REPEAT**2) / SIGMA**2)


def test_a_run_that_shares_nothing_changes_nothing() -> None:
    strange = job(memory_bytes=40e9, params=1e9, stack_code=5.0)
    after = moved([(strange, 100.0)], job())
    assert after.step_s[0] == pytest.approx(PREDICTED_S)
    assert after.log_sigma[0] == pytest.approx(SIGMA)


def test_runs_that_disagree_meet_in_the_middle() -> None:
    after = moved([(job(), 20.0), (job(), 5.0)], job())
    assert after.step_s[0] == pytest.approx(PREDICTED_S)


def test_the_interval_narrows_with_runs_and_never_below_repeats() -> None:
    widths = [float(moved([(job(), 15.0)] * k, job()).log_sigma[0]) for k in (1, 2, 3, 1000)]
    assert SIGMA > widths[0] > widths[1] > widths[2] > widths[3] >= REPEAT
    assert widths[3] == pytest.approx(REPEAT, rel=0.01)
    after = moved([(job(), 15.0)], job())
    assert after.log_half_width / after.log_sigma == pytest.approx(2.0)


def test_where_repeats_scatter_as_much_as_the_interval_runs_say_nothing() -> None:
    after = moved([(job(), 15.0)], job(), sigma=REPEAT)
    assert after.step_s[0] == pytest.approx(PREDICTED_S)
    assert after.log_sigma[0] == pytest.approx(REPEAT)


def test_parts_and_correction_carry_the_factor() -> None:
    before, after = predicted(job()), moved([(job(), 15.0)], job())
    factor = after.step_s[0] / before.step_s[0]
    assert after.parts.compute_s[0] == pytest.approx(factor * 8)
    assert after.parts.total_s[0] == pytest.approx(after.step_s[0])
    assert after.correction[0] == pytest.approx(2 * factor)


def test_without_usable_runs_nothing_changes() -> None:
    nothing = job().take(np.array([], dtype=int))
    table = OwnRunsTable((), nothing, np.empty(0), ((PROFILE, "no batch"),))
    calibration = Calibration.fit(table, predicted(nothing), COMPONENTS)
    before = predicted(job())
    assert calibration.apply(job(), before) is before
    assert calibration.on_own_stack(job()).stack_code.tolist() == job().stack_code.tolist()
    assert calibration.likeness(job()) == ("nothing shared", 0)
    assert calibration.runs.unused[0].reason == "no batch"


def test_the_next_job_has_the_stack_of_most_runs() -> None:
    calibration = fitted([(job(stack_code=code), 15.0) for code in (2.0, 1.0, 2.0)])
    assert calibration.on_own_stack(job()).stack_code.tolist() == [2.0]


@pytest.mark.parametrize(
    ("change", "likeness"),
    [
        ({}, "same job"),
        ({"global_batch": 128.0}, "same model and accelerator"),
        ({"memory_bytes": 40e9}, "same model"),
        ({"params": 1e9}, "same accelerator"),
        ({"params": 1e9, "memory_bytes": 40e9}, "same software"),
        ({"params": 1e9, "memory_bytes": 40e9, "stack_code": 5.0}, "nothing shared"),
    ],
)
def test_it_is_said_what_the_nearest_runs_share(change: dict[str, float], likeness: str) -> None:
    far = job(params=1e7, memory_bytes=1e9, stack_code=4.0)
    calibration = fitted([(job(**change), 15.0), (job(**change), 16.0), (far, 1.0)])
    found, runs = calibration.likeness(job())
    assert found == likeness
    assert runs == (3 if likeness == "nothing shared" else 2)


def test_used_runs_are_named_with_measured_and_predicted_steps() -> None:
    (run,) = fitted([(job(), 15.0)]).runs.used
    assert str(run) == "a decoder on 8 × A100-80GB"
    assert (run.measured_s, run.predicted_s, run.global_batch) == (15.0, PREDICTED_S, 64.0)


@given(st.lists(any_job(), min_size=1, max_size=6), st.data())
def test_any_runs_leave_a_narrower_finite_prediction(
    columns: list[dict[str, Any]], data: st.DataObject
) -> None:
    steps = data.draw(st.lists(st.floats(1e-3, 1e5), min_size=len(columns), max_size=len(columns)))
    jobs = [Jobs.from_columns(**column) for column in columns]
    calibration = fitted(list(zip(jobs, steps, strict=True)))
    target = Jobs.concatenate([*jobs, job()])
    after = calibration.apply(target, predicted(target))
    assert np.isfinite(after.step_s).all()
    assert (after.log_sigma <= SIGMA + 1e-12).all()
    assert (after.log_sigma >= REPEAT - 1e-9).all()


def test_the_order_of_runs_makes_no_difference() -> None:
    runs = [(job(global_batch=32.0 * i), 10.0 + i) for i in range(1, 5)]
    forth, back = moved(runs, job()), moved(runs[::-1], job())
    assert forth.step_s == pytest.approx(back.step_s)
    assert forth.log_sigma == pytest.approx(back.log_sigma)


def test_many_candidates_are_calibrated_in_blocks_of_rows() -> None:
    many = job(global_batch=64.0 * (1 + np.arange(50_000)))
    after = moved([(job(), 15.0)], many)
    rows = np.array([0, 49_999])
    alone = moved([(job(), 15.0)], many.take(rows))
    assert after.step_s[rows] == pytest.approx(alone.step_s)
    assert after.step_s[0] == after.step_s.max()
