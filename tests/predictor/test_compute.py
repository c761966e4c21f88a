"""Arithmetic and memory traffic of one device."""

from __future__ import annotations

import pytest
from hypothesis import given
from job_examples import BASE, COSTS, LAYERS, PARAMS, TOKENS, any_costs, any_job, make, number

from advisor.predictor.compute import ComputeCosts, micro_batch_s, micro_batch_work, training_flops
from advisor.predictor.jobs import Jobs


def test_training_costs_six_flops_per_parameter_and_token() -> None:
    # Kaplan et al., 2020, arXiv 2001.08361: C = 6·N·D; GPT-3 (174.6e9 parameters, 300e9 tokens)
    # is 3.14e23 FLOPs (Brown et al., 2020, arXiv 2005.14165, table D.1).
    forward = 2 * 174.6e9 * 300e9
    assert training_flops(forward, 2.0, 0.0) == pytest.approx(6 * 174.6e9 * 300e9)
    assert training_flops(forward, 2.0, 0.0) == pytest.approx(3.14e23, rel=0.002)


def test_recomputation_makes_it_eight() -> None:
    # Narayanan et al., 2021, arXiv 2104.04473, section 3.5 and appendix: 8·N·D with activation
    # recomputation; F = 96 B s l h² (1 + s/6h + V/16lh) = 8·N·D + the attention's part.
    batch, tokens, layers, hidden, vocab = 1536.0, 2048.0, 96.0, 12288.0, 51200.0
    blocks = 24 * batch * tokens * layers * hidden**2 + 4 * batch * tokens**2 * layers * hidden
    logits = 2 * batch * tokens * hidden * vocab
    # Logits are not recomputed: three passes instead of four.
    ours = training_flops(blocks, 2.0, 1.0) + training_flops(logits, 2.0, 0.0)
    paper = 96 * batch * tokens * layers * hidden**2 * (
        1 + tokens / (6 * hidden) + vocab / (16 * layers * hidden)
    )  # fmt: skip
    assert ours == pytest.approx(paper)
    assert training_flops(2.0 * 175e9, 2.0, 1.0) == 8 * 175e9


def test_frozen_weights_cost_four() -> None:
    # No gradient of the weights: the backward pass costs one forward pass.
    assert training_flops(2.0, 1.0, 0.0) == 4.0


def test_the_work_of_a_micro_batch_by_hand() -> None:
    work = micro_batch_work(make())
    assert number(work.dense_flops) == pytest.approx(6 * PARAMS * TOKENS)
    # A fused causal kernel does half of the scores.
    attention = BASE["attention_flops_per_sample"]
    assert number(work.attention_flops) == pytest.approx(3 * attention / 2)
    assert number(work.flops) == pytest.approx(number(work.dense_flops + work.attention_flops))
    # Written and read forward; read, and the gradient written and read, backward: five passes.
    elements = BASE["activation_elements_per_sample"]
    assert number(work.traffic_bytes) == pytest.approx(2 * (5 * elements + 3 * PARAMS))
    assert number(work.layer_passes) == 2 * LAYERS


def test_attention_that_is_not_fused_does_all_scores_and_moves_them() -> None:
    fused, plain = (micro_batch_work(make(fused_attention=f)) for f in (1.0, 0.0))
    assert number(plain.attention_flops) == pytest.approx(2 * number(fused.attention_flops))
    scores = BASE["attention_elements_per_sample"]
    moved = number(plain.traffic_bytes) - number(fused.traffic_bytes)
    assert moved == pytest.approx(2 * 5 * scores)


@given(columns=any_job())
def test_the_work_of_all_devices_is_the_work_of_the_step(columns) -> None:
    jobs = Jobs.from_columns(**columns)
    work = micro_batch_work(jobs)
    shards = columns["tensor_parallel"] * columns["pipeline_parallel"]
    skipped = 0.5 * columns["fused_attention"] * columns["attention_flops_per_sample"]
    sample = training_flops(
        columns["forward_flops_per_sample"] - skipped, 2.0, columns["recompute_share"]
    )
    assert number(work.flops) * shards == pytest.approx(sample * columns["micro_batch"])


def test_the_time_is_the_sum_of_arithmetic_traffic_and_launches() -> None:
    jobs = make()
    work = micro_batch_work(jobs)
    ideal = ComputeCosts(
        arithmetic=1.0, narrowness=0.0, attention=1.0, traffic=1.0, layer_pass_s=1e-5
    )
    busy, launch = micro_batch_s(work, jobs, ideal)
    arithmetic = number(work.flops) / 312e12
    assert number(busy) == pytest.approx(arithmetic + number(work.traffic_bytes) / 2.04e12)
    assert number(launch) == pytest.approx(64e-5)


def test_a_matrix_as_wide_as_the_ridge_costs_twice() -> None:
    ridge = 312e12 / 2.04e12
    wide, narrow = make(hidden=1e12), make(hidden=ridge)
    costs = ComputeCosts(
        arithmetic=1.0, narrowness=1.0, attention=1e-9, traffic=1e-9, layer_pass_s=1e-9
    )
    once = number(micro_batch_s(micro_batch_work(wide), wide, costs)[0])
    twice = number(micro_batch_s(micro_batch_work(narrow), narrow, costs)[0])
    assert twice / once == pytest.approx(2.0, rel=1e-6)


def test_a_network_without_a_width_is_not_narrow() -> None:
    jobs, wide = make(hidden=0.0), make(hidden=1e15)
    busy = number(micro_batch_s(micro_batch_work(jobs), jobs, COSTS)[0])
    assert busy == pytest.approx(number(micro_batch_s(micro_batch_work(wide), wide, COSTS)[0]))


@given(columns=any_job(), costs=any_costs())
def test_the_time_of_the_arithmetic_scales_with_the_machine(columns, costs) -> None:
    slow = Jobs.from_columns(**columns)
    machine = {name: 3 * columns[name] for name in ("peak_flops", "memory_bytes_per_s")}
    fast = Jobs.from_columns(**columns | machine)
    busy, launch = micro_batch_s(micro_batch_work(slow), slow, costs)
    busy_3, launch_3 = micro_batch_s(micro_batch_work(fast), fast, costs)
    assert number(busy) == pytest.approx(3 * number(busy_3))
    assert number(launch) == number(launch_3)
