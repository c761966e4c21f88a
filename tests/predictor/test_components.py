"""Variance components: how much of an error each effect makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from job_examples import make

from advisor.predictor.components import (
    USUAL_REPEAT_SIGMA,
    fit_components,
    repeat_sigma,
)
from advisor.predictor.effects import EFFECTS, REACH_DOUBLINGS, Labels, alike
from advisor.predictor.held_out import Residuals

if TYPE_CHECKING:
    from advisor.advice import Engine
    from advisor.predictor.arrays import FloatArray

BASE: dict[str, Any] = {"global_batch": 64.0}


def shared(**changes: Any) -> dict[str, float]:
    """Return how far a changed job shares each effect with the plain one."""
    found = alike(Labels.of(make(**BASE)), Labels.of(make(**(BASE | changes))))
    return {name: float(same[0, 0]) for name, same in zip(EFFECTS, found, strict=True)}


def test_the_same_job_shares_everything_in_whatever_layout() -> None:
    assert set(shared().values()) == {1.0}
    assert set(shared(data_parallel=2.0, tensor_parallel=4.0, micro_batch=4.0).values()) == {1.0}


def test_another_accelerator_shares_the_workload_and_the_stack() -> None:
    other = shared(memory_bytes=40e9)
    assert (other["stack"], other["workload"]) == (1.0, 1.0)
    assert (other["accelerator"], other["configuration"], other["job"]) == (0.0, 0.0, 0.0)


def test_another_model_or_tuning_is_another_workload() -> None:
    for change in ({"params": 1e9}, {"family_code": 1.0}, {"backward_ratio": 1.0}):
        other = shared(**change)
        assert (other["accelerator"], other["workload"], other["configuration"]) == (1.0, 0.0, 0.0)


def test_another_stack_shares_the_workload_alone() -> None:
    other = shared(stack_code=5.0)
    assert [name for name, value in other.items() if value] == ["workload"]


def test_the_configuration_fades_with_devices_and_batch() -> None:
    twice = shared(data_parallel=16.0)  # twice the devices, half the batch of each
    assert twice["configuration"] == pytest.approx(np.exp(-2 / REACH_DOUBLINGS))
    larger = shared(global_batch=128.0)
    assert larger["configuration"] == pytest.approx(np.exp(-1 / REACH_DOUBLINGS))
    assert (twice["job"], larger["job"]) == (0.0, 0.0)


def grid(models: int = 24, devices: int = 3, repeats: int = 4) -> Labels:
    """Runs of so many models on so many accelerators each, at growing batches."""
    model, device, run = np.meshgrid(
        np.arange(models), np.arange(devices), np.arange(repeats), indexing="ij"
    )
    jobs = make(
        params=1e8 * 1.5 ** model.ravel(),
        memory_bytes=1e10 * (1 + device.ravel()),
        global_batch=8.0 * 2.0 ** run.ravel(),
    )
    return Labels.of(jobs)


def residuals(values: FloatArray, fold: np.ndarray) -> Residuals:
    zeros = np.zeros(len(values))
    rows = np.arange(len(values))
    return Residuals(zeros.astype(int), zeros, values, rows[:, None], rows, fold)


def test_shares_that_made_the_residuals_are_found_again() -> None:
    labels = grid()
    random = np.random.default_rng(5)
    truth = np.array([0.0, 0.0, 0.6, 0.0, 0.4])
    source = np.repeat(np.arange(12), len(labels) // 12)  # two models each
    covariance = sum(s * same for s, same in zip(truth, alike(labels, labels), strict=True))
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(labels)))
    many = [root @ random.standard_normal(len(labels)) for _ in range(6)]
    held = residuals(np.concatenate(many) * 0.3, np.repeat(np.arange(6), len(labels)))
    held = Residuals(
        held.groups, held.distance, held.residual, held.strata,
        np.tile(np.arange(len(labels)), 6), held.fold,
    )  # fmt: skip
    found = fit_components(labels, source, held, np.full(len(held.rows), 0.3))
    shares = dict(zip(EFFECTS, found.shares, strict=True))
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["workload"] == pytest.approx(0.6, abs=0.15)
    assert shares["job"] == pytest.approx(0.4, abs=0.15)


def test_the_spread_of_repeats_is_that_within_jobs() -> None:
    labels = Labels.of(make(params=np.repeat(1e8 * 1.5 ** np.arange(400), 2)))
    random = np.random.default_rng(1)
    of_job = np.repeat(random.normal(0, 0.8, 400), 2)
    held = residuals(of_job + random.normal(0, 0.05, 800), np.zeros(800, dtype=int))
    assert repeat_sigma(labels, np.zeros(800, dtype=int), held) == pytest.approx(0.05, rel=0.15)


def test_without_repeats_the_spread_is_the_usual_one() -> None:
    labels = grid(repeats=1)
    held = residuals(np.zeros(len(labels)), np.zeros(len(labels), dtype=int))
    source = np.arange(len(labels))
    assert repeat_sigma(labels, source, held) == USUAL_REPEAT_SIGMA
    found = fit_components(labels, source, held, np.ones(len(labels)))
    assert found.shares.tolist() == pytest.approx([0.2] * 5)


def test_the_shipped_shares_carry_a_part_across_accelerators(engine: Engine) -> None:
    components = engine.predictor.model.components
    shares = dict(zip(EFFECTS, components.shares, strict=True))
    assert sum(shares.values()) == pytest.approx(1.0)
    # Across accelerators a part is shared: applying a ratio whole would make it worse.
    assert 0.3 < shares["stack"] + shares["workload"] < 0.75
    assert shares["configuration"] > 0.2
    assert 0.05 < components.repeat_sigma < 0.25


def test_a_few_jobs_far_off_do_not_hide_what_the_others_share() -> None:
    labels = grid()
    random = np.random.default_rng(8)
    of_model = np.repeat(random.standard_normal(24), len(labels) // 24)
    values = of_model + 0.2 * random.standard_normal(len(labels))
    values[random.random(len(labels)) < 0.08] *= -3
    source = np.repeat(np.arange(12), len(labels) // 12)
    found = fit_components(labels, source, residuals(values, source % 2), np.ones(len(labels)))
    assert dict(zip(EFFECTS, found.shares, strict=True))["job"] < 0.15
