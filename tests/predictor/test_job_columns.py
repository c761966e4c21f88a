"""Columns of jobs: how they are made, what the learned correction sees, what identifies a run."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from job_examples import BASE, COSTS, any_job, make
from run_examples import catalog, resolved

from advisor.core.errors import UnknownNameError
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import KINDS, costs_of, kind_of, kind_of_family
from advisor.predictor.difficulty import (
    NEW_BOTH,
    NEW_GPU,
    NEW_MODEL,
    NEW_SCALE,
    SEEN,
    Seen,
    accelerator_keys,
    group_of,
    model_keys,
)
from advisor.predictor.features import FEATURES, feature_matrix
from advisor.predictor.hardware import best_peak, facts_hash, facts_of, usual_link, usual_network
from advisor.predictor.jobs import Jobs
from advisor.predictor.shapes import fill_language_shapes
from advisor.predictor.workload_columns import workload_columns
from advisor.zoo import build_workload, get, names

# --- jobs ------------------------------------------------------------------------------------


def test_scalars_are_repeated_to_the_length_of_the_columns() -> None:
    jobs = make(micro_batch=np.array([1.0, 2.0, 4.0]))
    assert len(jobs) == 3
    assert jobs.params.tolist() == [BASE["params"]] * 3


def test_devices_and_machines() -> None:
    jobs = make(data_parallel=np.array([1.0, 4.0, 5.0]), tensor_parallel=2.0, pipeline_parallel=2.0)
    assert jobs.devices.tolist() == [4, 16, 20]
    assert jobs.nodes.tolist() == [1, 2, 3]


def test_tables_can_be_stacked_taken_and_read_from_a_frame() -> None:
    jobs = make(micro_batch=np.array([1.0, 2.0, 4.0]))
    both = Jobs.concatenate([jobs, jobs.take(jobs.micro_batch > 1)])
    assert both.micro_batch.tolist() == [1, 2, 4, 2, 4]
    frame = pd.DataFrame({f.name: getattr(both, f.name) for f in fields(Jobs)})
    assert Jobs.from_frame(frame).micro_batch.tolist() == both.micro_batch.tolist()


# --- features --------------------------------------------------------------------------------


@given(columns=any_job())
def test_features_are_finite_for_every_job(columns) -> None:
    jobs = Jobs.from_columns(**columns)
    matrix = feature_matrix(jobs, step_columns(jobs, COSTS), np.zeros(1))
    assert matrix.shape == (1, len(FEATURES))
    assert np.isfinite(matrix).all()


def test_features_stand_under_their_names() -> None:
    jobs = make(tensor_parallel=4.0, data_parallel=2.0)
    parts = step_columns(jobs, COSTS)
    row = dict(zip(FEATURES, feature_matrix(jobs, parts, np.zeros(1))[0], strict=True))
    assert row["tensor_parallel"] == 4
    assert row["log_devices"] == pytest.approx(np.log(8))
    assert row["log_step"] == pytest.approx(np.log(parts.total_s[0]))
    assert row["communication_share"] == pytest.approx(
        parts.exposed_communication_s[0] / parts.total_s[0]
    )
    assert row["stack"] == BASE["stack_code"]
    assert row["log_ridge"] == pytest.approx(row["log_peak"] - row["log_memory_bandwidth"])


# --- difficulty ------------------------------------------------------------------------------


def test_what_identifies_a_model_and_an_accelerator() -> None:
    one, other, larger = (model_keys(make(params=p))[0] for p in (6.7e9, 6.75e9, 8e9))
    assert one == other != larger
    assert model_keys(make())[0] != model_keys(make(family_code=1.0))[0]
    small, large = (accelerator_keys(make(memory_bytes=m))[0] for m in (40e9, 80e9))
    assert small != large


@pytest.mark.parametrize(
    ("change", "difficulty"),
    [
        ({}, SEEN),
        ({"data_parallel": 16.0}, SEEN),  # twice the largest is still its scale
        ({"data_parallel": 17.0}, NEW_SCALE),
        ({"params": 2 * BASE["params"]}, NEW_MODEL),
        ({"stack_code": 4.0}, NEW_MODEL),
        ({"memory_bytes": 192e9}, NEW_GPU),
        ({"memory_bytes": 192e9, "data_parallel": 1e4}, NEW_GPU),
        ({"memory_bytes": 192e9, "params": 1e9}, NEW_BOTH),
        ({"family_code": 6.0}, NEW_MODEL),
    ],
)
def test_how_hard_a_question_is(change, difficulty) -> None:
    seen = Seen.of(make())
    assert seen.difficulty(make(**change)).tolist() == [difficulty]


def test_the_group_is_the_difficulty_within_the_kind() -> None:
    jobs = make(family_code=np.array([0.0, 2.0, 4.0, 8.0]))
    groups = group_of(np.full(4, NEW_MODEL), jobs)
    assert groups.tolist() == [NEW_MODEL * len(KINDS) + kind for kind in range(4)]


def test_every_family_is_of_one_kind_and_finds_its_constants() -> None:
    families = [name for kind in KINDS.values() for name in kind]
    assert len(families) == len(set(families))
    codes = np.arange(float(len(families)))
    kinds = kind_of(make(family_code=codes))
    assert sorted(set(kinds.tolist())) == list(range(len(KINDS)))
    assert kind_of_family("moe") == kind_of_family("language") == 0
    by_kind = {kind: replace(COSTS, traffic=float(kind + 1)) for kind in range(len(KINDS))}
    assert costs_of(make(family_code=codes), by_kind).traffic.tolist() == (kinds + 1).tolist()


# --- hardware --------------------------------------------------------------------------------


def test_accelerators_are_found_however_they_are_spelled() -> None:
    labels = pd.Series(["A100-SXM4-80GB", "a100-80gb", "Foo"], index=[5, 6, 7])
    facts = facts_of(catalog(), labels)
    assert facts.index.tolist() == [5, 6, 7]
    assert facts["peak_bf16_flops"].tolist()[:2] == [312e12, 312e12]
    assert facts.loc[7].isna().all()


def test_the_nearest_precision_is_below_and_else_above() -> None:
    facts = pd.DataFrame(
        [[1.0, np.nan, 3.0, np.nan, np.nan], [np.nan, np.nan, np.nan, 4.0, np.nan],
         [1.0, 2.0, 3.0, 4.0, 5.0], [np.nan] * 5],
        columns=[f"peak_{p}_flops" for p in ("fp32", "tf32", "fp16", "bf16", "fp8")],
    )  # fmt: skip
    found = {p: best_peak(facts, p).tolist() for p in ("fp32", "tf32", "fp16", "bf16", "fp8")}
    assert [row[:3] for row in found.values()] == [
        [1, 4, 1], [1, 4, 2], [3, 4, 3], [3, 4, 4], [3, 4, 5]
    ]  # fmt: skip
    assert all(np.isnan(row[3]) for row in found.values())
    each = best_peak(facts, np.array(["fp16", "fp8", "tf32", "fp32"]))
    assert each[:3].tolist() == [3, 4, 2]


def test_every_accelerator_of_the_catalog_with_any_peak_has_one_at_every_precision() -> None:
    facts = catalog().accelerators
    peaks = facts.filter(like="peak_")
    for precision in ("fp32", "tf32", "fp16", "bf16", "fp8"):
        found = best_peak(facts, precision)
        assert (np.isfinite(found) == peaks.notna().any(axis=1)).all()


def test_links_and_networks_that_nobody_names() -> None:
    facts = pd.DataFrame({"year": [2017, 2020, 2020], "link_bytes_per_s": [np.nan, np.nan, 3e11]})
    assert usual_link(facts).tolist() == [12e9, 24e9, 3e11]
    years = np.array([2010.0, 2014, 2016, 2019, np.nan, 2021, 2026])
    gbit = usual_network(years) * 8 / 1e9
    assert gbit.tolist() == [10, 10, 25, 100, 100, 800, 3200]


def test_the_hash_of_the_facts_is_that_of_their_numbers() -> None:
    assert facts_hash(catalog()) == facts_hash(catalog())


# --- shapes and workloads --------------------------------------------------------------------


def test_shapes_agree_with_the_zoo() -> None:
    model = get("llama-2-7b").model(4096)
    found = {
        name: float(column.iloc[0])
        for name, column in fill_language_shapes(
            params=pd.Series([model.params]), layers=pd.Series([32.0]),
            hidden=pd.Series([4096.0]), vocab=pd.Series([32_000.0]), tokens=pd.Series([4096.0]),
            kv_share=pd.Series([1.0]), active_params=pd.Series([np.nan]),
        ).items()
    }  # fmt: skip
    assert found["forward_flops_per_sample"] == pytest.approx(
        model.forward_flops_per_sample, rel=0.05
    )
    assert found["attention_flops_per_sample"] == model.attention_flops_per_sample
    assert found["boundary_elements_per_sample"] == model.boundary_elements_per_sample
    assert found["activation_elements_per_sample"] == pytest.approx(
        model.activation_elements_per_sample, rel=0.25
    )


@pytest.mark.parametrize("name", names()[::12])
@pytest.mark.parametrize("tuning", ["pretrain", "lora"])
def test_workloads_become_finite_columns(name, tuning) -> None:
    architecture = get(name)
    if tuning == "lora" and not architecture.model().is_transformer:
        pytest.skip("adapters are for transformers")
    try:
        workload = build_workload(architecture, steps=10, tuning=tuning)
    except ValueError as error:
        pytest.skip(str(error))
    columns = workload_columns(workload)
    assert all(np.isfinite(value) and value >= 0 for value in columns.values())
    layout = {name: value for name, value in BASE.items() if name not in columns}
    jobs = Jobs.from_columns(**layout | columns)
    assert np.isfinite(step_columns(jobs, COSTS).total_s).all()
    assert columns["backward_ratio"] == (1.0 if tuning == "lora" else 2.0)


@pytest.mark.parametrize(
    ("precision", "optimizer", "width", "states"),
    [
        ("bf16", "adamw", 2, 12), ("fp8", "adamw", 2, 12), ("fp32", "adamw", 4, 8),
        ("tf32", "sgd", 4, 4), ("fp16", "sgd", 2, 8), ("bf16", "adafactor", 2, 6),
    ],
)  # fmt: skip
def test_bytes_by_precision_and_optimizer(precision, optimizer, width, states) -> None:
    workload = build_workload(get("llama-2-7b"), steps=10, precision=precision, optimizer=optimizer)
    columns = workload_columns(workload)
    assert columns["bytes_per_element"] == columns["base_bytes_per_param"] == width
    assert columns["optimizer_bytes_per_param"] == states


def test_quantised_weights_take_half_a_byte() -> None:
    # Dettmers et al., 2023, arXiv 2305.14314: 4 bits and 0.127 bits of constants per parameter.
    workload = build_workload(get("llama-2-7b"), steps=10, tuning="qlora")
    found = workload_columns(workload)["base_bytes_per_param"]
    assert found == pytest.approx((4 + 0.127) / 8, rel=0.001)


def test_a_measured_run_and_the_same_workload_get_the_same_columns() -> None:
    model = get("llama-2-7b").model(4096)
    workload = build_workload(
        get("llama-2-7b"), steps=10, sample_size=4096, global_batch=64, precision="bf16"
    )
    run = resolved(
        {
            "params": model.params, "layers": model.layers, "hidden": model.hidden,
            "sample_size": 4096.0, "global_batch": 64.0, "framework": "Megatron-LM",
        }
    ).iloc[0]  # fmt: skip
    for name, value in workload_columns(workload).items():
        # A user's job names no framework that somebody else has measured.
        if name not in (
            "vocab",
            "embedding_params",
            "activation_elements_per_sample",
            "framework_code",
        ):
            assert run[name] == pytest.approx(value, rel=0.05), name


def test_an_unknown_accelerator_is_an_error_for_who_asks_by_name() -> None:
    with pytest.raises(UnknownNameError):
        catalog().accelerator("Foo 9000")
