"""From an architecture and an amount of work to a workload."""

from __future__ import annotations

import pytest

from advisor.zoo import build_workload, get, resolve


def test_tokens_become_samples_and_steps() -> None:
    job = build_workload(resolve("Llama-2-7B"), tokens=10e9, sample_size=4096, global_batch=1024)
    assert job.samples == pytest.approx(10e9 / 4096)
    assert job.steps == 2385
    assert job.tokens == pytest.approx(10e9)


def test_epochs_of_imagenet_are_assumed_and_said() -> None:
    job = build_workload(get("resnet-50"), epochs=90)
    assert job.samples == 90 * 1_281_167
    assert job.optimizer == "sgd"
    assert "ImageNet-1k with 1,281,167 images per epoch" in job.assumptions
