"""Peak memory: the tables of the ZeRO and activation papers, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_examples import BASE, LAYERS, PARAMS, TOKENS, WIDTH, any_job, make, number

from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import (
    activation_bytes,
    memory_columns,
    out_of_memory_probability,
)
from advisor.zoo import get


def used(columns: dict[str, float], **changes: float) -> float:
    return number(memory_columns(Jobs.from_columns(**columns | changes)).used_bytes)


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_model_states_are_those_of_the_zero_paper(stage, gigabytes) -> None:
    # Rajbhandari et al., 2020, arXiv 1910.02054, figure 1: 7.5e9 parameters, 64 devices, Adam
    # in mixed precision.
    memory = memory_columns(
        make(params=7.5e9, trainable_params=7.5e9, embedding_params=0.0, data_parallel=64.0,
             zero_stage=stage)
    )  # fmt: skip
    states = memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_bytes
    assert number(states) / 1e9 == pytest.approx(gigabytes, abs=0.06)


def test_full_precision_states_take_sixteen_bytes_too() -> None:
    # 4 + 4 + 8 in full precision, 2 + 2 + 12 in mixed: section 3.1.
    memory = memory_columns(
        make(bytes_per_element=4.0, base_bytes_per_param=4.0, optimizer_bytes_per_param=8.0)
    )
    states = memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_bytes
    assert number(states) == pytest.approx(16 * PARAMS)


def test_frozen_weights_have_neither_gradients_nor_optimizer_states() -> None:
    memory = memory_columns(make(trainable_params=0.005 * PARAMS, base_bytes_per_param=0.516))
    assert number(memory.parameters_bytes) == pytest.approx(0.516 * PARAMS)
    assert number(memory.gradients_bytes) == pytest.approx(0.01 * PARAMS)
    assert number(memory.optimizer_bytes) == pytest.approx(0.06 * PARAMS)


@pytest.mark.parametrize("tensor", [1.0, 8.0])
def test_a_layer_keeps_34_bytes_per_element(tensor) -> None:
    # Korthikanti et al., 2022, arXiv 2205.05198, equation 4 with selective recomputation:
    # s·b·h·L · 34 / t.
    found = number(activation_bytes(make(tensor_parallel=tensor, micro_batch=4.0)))
    assert found == pytest.approx(34 * TOKENS * 4 * WIDTH * LAYERS / tensor)


@pytest.mark.parametrize(
    ("hidden", "layers", "heads", "micro", "tensor", "gigabytes"),
    [(6144, 48, 64, 4, 8, 42.5), (12288, 96, 96, 1, 8, 34.4)],
)
def test_attention_that_is_not_fused_adds_five_bytes_per_score(
    hidden, layers, heads, micro, tensor, gigabytes
) -> None:
    # The 22B and 175B models of table 3; equation 4: s·b·h·L/t · (34 + 5·a·s/h).
    tokens = 2048
    jobs = make(
        layers=layers, hidden=hidden, tokens_per_sample=tokens, micro_batch=micro,
        tensor_parallel=tensor, fused_attention=0.0,
        activation_elements_per_sample=17.0 * layers * tokens * hidden,
        attention_elements_per_sample=2.5 * layers * heads * tokens**2,
    )  # fmt: skip
    paper = tokens * micro * hidden * layers / tensor * (34 + 5 * heads * tokens / hidden)
    assert number(activation_bytes(jobs)) == pytest.approx(paper)
    assert paper / 1e9 == pytest.approx(gigabytes, abs=0.1)


def test_the_zoo_counts_elements_as_the_paper_does() -> None:
    # Section 5: "for GPT-3 … 5as/h = 80".
    model = get("gpt-3-175b").model(2048)
    unit = model.layers * model.hidden * 2048
    assert 2 * model.attention_elements_per_sample / unit == pytest.approx(80, rel=0.01)
    assert 2 * model.activation_elements_per_sample / unit == pytest.approx(34, rel=0.05)


def test_full_recomputation_keeps_two_bytes_per_element_and_one_layer() -> None:
    # Table 2, "full activation recomputation": 2·s·b·h per layer, plus the layer at work.
    found = number(activation_bytes(make(recompute_share=1.0)))
    assert found == pytest.approx(TOKENS * WIDTH * (2 * LAYERS + 34))


def test_the_first_stage_of_a_full_pipeline_keeps_as_much_as_no_pipeline() -> None:
    # Section 4.2.3: p micro-batches of L/p layers are in flight.
    alone = number(activation_bytes(make()))
    full = make(pipeline_parallel=8.0, accumulation=64.0)
    assert number(activation_bytes(full)) == pytest.approx(alone)
    short = make(pipeline_parallel=8.0, accumulation=2.0)
    assert number(activation_bytes(short)) == pytest.approx(alone / 4)


def test_logits_of_the_last_stage_count_only_beyond_what_the_first_one_holds() -> None:
    columns = BASE | {"pipeline_parallel": 8.0, "accumulation": 8.0, "data_parallel": 1.0}
    small, none = used(columns), used(columns | {"vocab": 0.0})
    assert small == none
    huge = used(columns | {"vocab": 1e7})
    spare = 7 / 8 * number(activation_bytes(Jobs.from_columns(**columns)))
    assert huge - none == pytest.approx(TOKENS * 1e7 * 6 - spare)
    alone = used(BASE) - used(BASE | {"vocab": 0.0})
    assert alone == pytest.approx(TOKENS * BASE["vocab"] * 6)


def test_llama_2_7b_does_not_fit_one_a100_unsharded_and_fits_eight_sharded() -> None:
    # 16 bytes of states per parameter are 105 GB.
    jobs = make(zero_stage=np.array([0.0, 3.0]))
    risk = out_of_memory_probability(memory_columns(jobs).used_bytes, jobs.memory_bytes)
    assert risk[0] > 0.99
    assert risk[1] < 0.01


@given(columns=any_job())
def test_every_part_is_finite_not_negative_and_they_sum_to_the_peak(columns) -> None:
    memory = memory_columns(Jobs.from_columns(**columns))
    parts = [
        memory.parameters_bytes, memory.gradients_bytes, memory.optimizer_bytes,
        memory.activations_bytes, memory.workspace_bytes,
    ]  # fmt: skip
    assert all(np.isfinite(part).all() and (part >= 0).all() for part in parts)
    assert number(memory.used_bytes) == pytest.approx(number(sum(parts)))


@given(columns=any_job(data_parallel=8.0, pipeline_parallel=1.0))
def test_sharding_more_never_takes_more(columns) -> None:
    # On stages of two layers or less it does: ZeRO-3 gathers two at a time.
    peaks = [used(columns, zero_stage=float(stage)) for stage in range(4)]
    assert peaks == sorted(peaks, reverse=True)


@given(columns=any_job())
def test_more_replicas_never_take_more_where_states_are_sharded(columns) -> None:
    columns = columns | {"zero_stage": max(columns["zero_stage"], 1.0), "data_parallel": 2.0}
    assert used(columns, data_parallel=16.0) <= used(columns)


@given(columns=any_job(tensor_parallel=2.0))
def test_tensor_parallelism_takes_less(columns) -> None:
    assert used(columns, tensor_parallel=8.0) < used(columns)


@given(columns=any_job())
def test_recomputation_never_takes_more(columns) -> None:
    assert used(columns, recompute_share=1.0) <= used(columns, recompute_share=0.0)


@given(columns=any_job())
def test_a_larger_micro_batch_takes_more(columns) -> None:
    assert used(columns, micro_batch=2 * columns["micro_batch"]) > used(columns)


@given(
    use=st.lists(st.floats(1.0, 1e13), min_size=2, max_size=20),
    capacity=st.floats(1e9, 1e12),
)
def test_the_chance_to_run_out_of_memory_grows_from_0_to_1_with_the_use(use, capacity) -> None:
    chance = out_of_memory_probability(np.sort(use), np.array(capacity))
    assert ((chance >= 0) & (chance <= 1)).all()
    assert (np.diff(chance) >= 0).all()


def test_the_chance_is_even_where_the_use_is_what_the_device_can_give() -> None:
    # 2 % of the memory are not for programs.
    assert out_of_memory_probability(np.array(78.4e9), np.array(80e9)) == pytest.approx(0.5)
    assert out_of_memory_probability(np.array(80e9), np.array(80e9)) > 0.5
    # One standard deviation of 10 % below: 16 %.
    below = out_of_memory_probability(np.array(78.4e9 * np.exp(-0.1)), np.array(80e9))
    assert below == pytest.approx(0.1587, abs=1e-4)


def test_rows_can_be_taken() -> None:
    memory = memory_columns(make(micro_batch=np.array([1.0, 2.0, 4.0])))
    some = memory.take(np.array([2, 0]))
    assert some.used_bytes.tolist() == memory.used_bytes[[2, 0]].tolist()
