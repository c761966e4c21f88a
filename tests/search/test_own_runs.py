"""The user's own runs as the search describes its candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from search_fixtures import (  # noqa: F401 - fixtures
    catalog_fixture,
    physics_fixture,
)

from advisor.domain import Profile, Provenance
from advisor.predictor.components import VarianceComponents
from advisor.predictor.workload_columns import usual_stack, workload_columns
from advisor.search.own_runs import calibration_of, precision_of, workload_of

if TYPE_CHECKING:
    from search_fixtures import Physics

    from advisor.catalog import Catalog
    from advisor.predictor.calibration import Calibration


def run(**changes: Any) -> Profile:
    """Return a run of Llama-2-7B on 32 A100 that says nothing of its layout."""
    fields: dict[str, Any] = {
        "model": "meta-llama/Llama-2-7b-hf", "family": "other", "accelerator": "A100-SXM4-40GB",
        "accelerators": 32, "nodes": 4, "global_batch": 1024, "sample_size": 4096,
        "precision": "bf16", "step_time_s": 50.0, "provenance": Provenance(source="own trace"),
    }  # fmt: skip
    return Profile(**(fields | changes))


@pytest.fixture(name="calibrated")
def calibrated_fixture(catalog: Catalog, physics: Physics) -> Any:
    """Calibrates by runs, with physics alone as the predictor."""

    class Model(type(physics)):  # type: ignore[misc]
        components = VarianceComponents(np.full(5, 0.2), 0.1)

    def call(*runs: Profile) -> Calibration:
        return calibration_of(runs, Model(physics.costs), catalog)

    return call


def test_a_run_of_a_known_model_is_the_same_workload_as_the_job(calibrated: Any) -> None:
    workload = workload_of(run())
    assert workload is not None
    columns = workload_columns(workload)
    calibration = calibrated(run())
    assert calibration.runs.unused == ()
    family, params, backward = calibration.labels.workload[0]
    assert family == columns["family_code"]
    assert params == np.round(np.log(columns["params"]) / 0.05)
    assert backward == columns["backward_ratio"]
    assert calibration.stack_code == usual_stack("language")


def test_what_a_run_does_not_say_is_what_the_search_would_choose(calibrated: Any) -> None:
    free = calibrated(run()).runs.used[0].predicted_s
    stated = {
        layout: calibrated(run(parallelism=layout)).runs.used[0].predicted_s
        for layout in ("tp=1;pp=1;zero=3", "tp=8;pp=1;zero=0", "tp=8;pp=4;dp=1")
    }
    assert min(stated.values()) >= free * (1 - 1e-9)
    assert len(set(stated.values())) == 3


def test_a_layout_that_the_search_does_not_know_is_taken_as_it_is(calibrated: Any) -> None:
    odd = calibrated(run(parallelism="tp=8;pp=3", accelerators=24, nodes=3, global_batch=1000))
    assert len(odd.runs.used) == 1


def test_runs_given_twice_count_once(calibrated: Any) -> None:
    assert len(calibrated(run(), run()).runs.used) == 1
    assert len(calibrated(run(), run(step_time_s=51.0)).runs.used) == 2
    assert calibrated(run(), run(step_time_s=51.0)).counts.tolist() == [2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "my own net"}, "neither FLOPs nor shape"),
        ({"global_batch": None}, "global batch"),
        ({"accelerator": "Graphcore"}, "accelerator is unknown"),
        ({"step_time_s": 1e-4}, "speed is not possible"),
    ],
)
def test_a_run_that_cannot_be_used_is_named_with_the_reason(
    change: dict[str, Any], words: str, calibrated: Any
) -> None:
    calibration = calibrated(run(**change), run())
    assert len(calibration.runs.used) == 1
    (unused,) = calibration.runs.unused
    assert words in unused.reason
    assert unused.name == change.get("model", run().model)


def test_an_unknown_model_calibrates_by_its_parameters(calibrated: Any) -> None:
    calibration = calibrated(run(model="my own net", family="language", params=6.7e9))
    assert len(calibration.runs.used) == 1


def test_image_networks_and_tuned_models_are_described(calibrated: Any) -> None:
    images = run(model="resnet-50", sample_size=224, precision="fp16", global_batch=256,
                 accelerators=8, nodes=1, step_time_s=0.12)  # fmt: skip
    tuned = run(parallelism="tuning=lora", global_batch=128, step_time_s=6.0)
    calibration = calibrated(images, tuned)
    assert calibration.runs.unused == ()
    assert sorted(calibration.labels.workload[:, 2].tolist()) == [1.0, 2.0]


def test_the_stack_is_the_frameworks_where_it_is_known(calibrated: Any) -> None:
    torch = calibrated(run(framework="PyTorch 2.6")).stack_code
    megatron = calibrated(run(framework="Megatron-LM")).stack_code
    assert torch != megatron
    assert calibrated(run(framework="our own")).stack_code == megatron


@pytest.mark.parametrize(("text", "found"), [("", None), ("TF32", "tf32"), ("fp32", "fp32")])
def test_precisions_are_read_from_texts(text: str, found: str | None) -> None:
    assert precision_of(text) == found
