"""Smooth corrections: taken where a framework's runs are dense and a process is the better one."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.predictor.local import FEWEST_RUNS, LocalProcess, LocalProcesses
from tests.predictor.job_examples import make

CODE = 77.0
WIDTHS = (1024, 1536, 2048, 3072)


def dense(code: float = CODE):
    """Runs of four widths under one framework, with many micro-batches and tensor degrees."""
    width, micro, more, tensor = (
        axis.ravel() for axis in np.meshgrid(WIDTHS, range(4), range(4), range(3))
    )
    return make(
        framework_code=code, hidden=width, params=1e6 * width, micro_batch=2.0**micro,
        accumulation=2.0**more, tensor_parallel=2.0**tensor, data_parallel=8 / 2.0**tensor,
    )  # fmt: skip


def smooth(jobs) -> np.ndarray:
    tensor, micro = np.log2(jobs.tensor_parallel), np.log2(jobs.micro_batch)
    return np.asarray(0.3 * tensor - 0.1 * micro + 0.05 * tensor * micro)


def test_a_process_knows_layouts_of_a_width_that_it_has_not_seen() -> None:
    jobs = dense()
    held = jobs.hidden == WIDTHS[1]
    process = LocalProcess.fit(jobs.take(~held), smooth(jobs)[~held])
    assert process.predict(jobs.take(held)) == pytest.approx(smooth(jobs)[held], abs=0.02)


def test_a_smooth_framework_is_found_and_noise_is_left_to_the_trees() -> None:
    jobs = dense()
    features = np.column_stack([np.log(jobs.hidden), jobs.micro_batch])
    found = LocalProcesses.fit(jobs, features, smooth(jobs))
    assert list(found.by_framework) == [CODE]
    noise = np.random.default_rng(0).normal(size=len(jobs))
    assert not LocalProcesses.fit(jobs, features, noise).by_framework


def test_only_runs_of_the_framework_take_its_process() -> None:
    jobs = dense()
    found = LocalProcesses({CODE: LocalProcess.fit(jobs, smooth(jobs))})
    other = dense(code=0.0)
    correction = np.full(len(other), 0.7)
    assert (found.replace(other, correction) == correction).all()
    assert found.replace(jobs, correction) == pytest.approx(smooth(jobs), abs=0.02)


@pytest.mark.parametrize("kept", [slice(0, 48), slice(0, None, 3)])
def test_too_few_models_or_runs_are_no_process(kept) -> None:
    jobs = dense().take(np.arange(len(dense()))[kept])
    assert len(jobs) < FEWEST_RUNS
    features = np.log(jobs.hidden)[:, None]
    assert not LocalProcesses.fit(jobs, features, smooth(jobs)).by_framework
