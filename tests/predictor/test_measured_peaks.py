"""Peaks of memory that somebody measured, against the sum of parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from job_examples import BASE, number

from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import CUT_LOG_SPREAD, memory_columns
from advisor.predictor.shapes import network_columns
from advisor.zoo import get
from advisor.zoo.kinds import styles
from advisor.zoo.kinds.decoder import DecoderShape, decoder

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.domain import Model

MIB = 2.0**20
# What the driver and the framework take beside what the allocator reserves.
CONTEXT_MIB = 500


def gpt(layers: int, hidden: int) -> Model:
    shape = DecoderShape(vocab=50_688, hidden=hidden, layers=layers, heads=32, inner=4 * hidden,
                         longest=1024)  # fmt: skip
    return decoder(styles.GPT2, shape, name="gpt", title="gpt").model(1024)


def peak_bytes(model: Model, **layout: Any) -> float:
    columns = network_columns(model)
    states = {"trainable_params": columns["params"], "fused_attention": 0.0}
    return number(memory_columns(Jobs.from_columns(**BASE | columns | states | layout)).used_bytes)


@pytest.mark.parametrize(
    ("model", "layout", "reserved_mib"),
    [
        (gpt(40, 6144), {"tensor_parallel": 4.0, "pipeline_parallel": 4.0, "data_parallel": 1.0,
                         "accumulation": 4.0}, 30_724),
        (gpt(64, 8192), {"tensor_parallel": 4.0, "pipeline_parallel": 16.0, "data_parallel": 1.0,
                         "micro_batch": 4.0, "accumulation": 256.0}, 23_288),
        (gpt(64, 8192), {"tensor_parallel": 4.0, "data_parallel": 16.0, "zero_stage": 3.0,
                         "micro_batch": 48.0}, 28_234),
    ],
    ids=["20B Megatron-LM", "52B DeepSpeed pipeline", "52B ZeRO-3"],
)  # fmt: skip
def test_logs_of_large_runs_on_v100_lie_within_two_spreads(model, layout, reserved_mib) -> None:
    # Logs of bigscience-workshop/bigscience: sequences of 1,024, all activations recomputed.
    computed = peak_bytes(model, recompute_share=1.0, **layout)
    measured = (reserved_mib + CONTEXT_MIB) * MIB
    assert abs(np.log(measured / computed)) < 2 * CUT_LOG_SPREAD


def test_an_unsharded_megatron_run_holds_eighteen_bytes_a_parameter() -> None:
    # 20 bytes in fp16 are allocated between steps in the 20 B log: 23,215 MiB of 1.21 B.
    model = gpt(40, 6144)
    columns = network_columns(model)
    jobs = Jobs.from_columns(
        **BASE | columns | {"trainable_params": columns["params"], "tensor_parallel": 4.0,
                            "pipeline_parallel": 4.0, "data_parallel": 1.0}
    )  # fmt: skip
    memory = memory_columns(jobs)
    held = number(memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_bytes)
    assert held == pytest.approx(18 / 20 * 23_215 * MIB, rel=0.02)


def test_full_precision_keeps_the_softmax_alone() -> None:
    # A layer of OPT-350M keeps 360.7 MB of one sequence of 2,048 (eth-easl/sailor, profile).
    model = get("opt-350m").model(2048)
    columns = BASE | network_columns(model) | {"bytes_per_element": 4.0, "fused_attention": 0.0}
    kept = number(memory_columns(Jobs.from_columns(**columns)).activations_bytes)
    assert kept / model.layers == pytest.approx(360.7e6, rel=0.15)


def test_plans_on_gh200_are_within_a_quarter(reference: Path) -> None:
    plans = pd.read_csv(reference / "data" / "boards" / "sailor_plans.csv")
    plans = plans[plans["set"].str.startswith("clariden")]
    model = get("opt-350m").model(2048)
    ratios = []
    for _, plan in plans.iterrows():
        pipelines = json.loads(plan["pipelines_json"])
        replicas = sum(len(pipeline["stages"][0]) for pipeline in pipelines)
        computed = peak_bytes(
            model,
            bytes_per_element=4.0,
            base_bytes_per_param=4.0,
            optimizer_bytes_per_param=8.0,
            data_parallel=float(replicas),
            tensor_parallel=float(pipelines[0]["stages"][0][0][-1]),
            pipeline_parallel=float(len(pipelines[0]["layers_per_stage"])),
            micro_batch=float(plan["micro_batch"]),
            accumulation=max(1.0, plan["global_batch"] / replicas / plan["micro_batch"]),
        )
        ratios.append(computed / plan["peak_memory_bytes"])
    error = np.abs(np.array(ratios) - 1)
    assert error.mean() < 0.18
    assert error.max() < 0.30
