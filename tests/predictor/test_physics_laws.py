"""Laws of the physics: units, scale, bounds, and what may never get worse.

Beside the equations by hand in the tests of every module. A law in *units* says that measuring in
kB for B, or in ms for s, changes nothing but the figure; one of *scale* how a part grows.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from job_examples import any_costs, any_job, number

from advisor.predictor.baseline import (
    OVERLAP,
    STEP_OVERHEAD_S,
    exposed_data_parallel_s,
    step_columns,
    tensor_parallel_s,
)
from advisor.predictor.collectives import (
    hierarchical_gather_s,
    point_to_point_s,
    ring_all_reduce_s,
    ring_gather_s,
    smooth_min,
)
from advisor.predictor.compute import ComputeCosts, micro_batch_s, micro_batch_work, training_flops
from advisor.predictor.jobs import Jobs
from advisor.predictor.memory import memory_columns, out_of_memory_probability
from advisor.predictor.pipeline import bubble_ratio, micro_batches_in_flight

sizes = st.floats(1.0, 1e12)
ranks = st.integers(1, 4096).map(float)
bandwidths = st.floats(1e6, 1e13)
latencies = st.floats(0.0, 1e-2)
factors = st.floats(1e-6, 1e6)
SPARE = 1 + 1e-9
ALONE = {"data_parallel": 1.0, "tensor_parallel": 1.0, "pipeline_parallel": 1.0,
         "parameter_servers": 0.0, "zero_stage": 0.0}  # fmt: skip


def jobs(columns: dict[str, float], **changes: float) -> Jobs:
    return Jobs.from_columns(**columns | changes)


def step(columns: dict[str, float], costs: ComputeCosts, **changes: float) -> float:
    return number(step_columns(jobs(columns, **changes), costs).total_s)


# --- collectives -----------------------------------------------------------------------------


@given(size=sizes, n=ranks, bandwidth=bandwidths, latency=latencies, k=factors)
def test_the_unit_of_bytes_does_not_matter(size, n, bandwidth, latency, k) -> None:
    for collective in (ring_all_reduce_s, ring_gather_s):
        plain = collective(size, n, bandwidth, latency)
        assert collective(k * size, n, k * bandwidth, latency) == pytest.approx(plain)
    one, other = (point_to_point_s(f * size, f * bandwidth, latency) for f in (1.0, k))
    assert other == pytest.approx(one)
    one, other = (hierarchical_gather_s(f * size, 8.0, n, f * bandwidth, f * 1e9, 1.0)
                  for f in (1.0, k))  # fmt: skip
    assert other == pytest.approx(one)


@given(size=sizes, n=ranks, bandwidth=bandwidths, latency=latencies, k=factors)
def test_the_unit_of_time_does_not_matter(size, n, bandwidth, latency, k) -> None:
    plain = ring_all_reduce_s(size, n, bandwidth, latency)
    assert ring_all_reduce_s(size, n, bandwidth / k, k * latency) == pytest.approx(k * plain)


@given(size=sizes, n=ranks, bandwidth=bandwidths)
def test_a_ring_moves_all_but_a_share_of_its_buffer_whatever_its_length(size, n, bandwidth) -> None:
    # Patarasuk and Yuan, 2009: at least (n - 1)/n of the buffer twice, and never more than twice.
    assume(n > 1)
    time = ring_all_reduce_s(size, n, bandwidth)
    assert size / bandwidth <= time * SPARE
    assert time <= 2 * size / bandwidth


@given(size=sizes, n=ranks, more=ranks, bandwidth=bandwidths, latency=latencies)
def test_more_ranks_are_never_faster(size, n, more, bandwidth, latency) -> None:
    for collective in (ring_all_reduce_s, ring_gather_s):
        less = collective(size, n, bandwidth, latency)
        assert less <= collective(size, n + more, bandwidth, latency) * SPARE


@given(size=sizes, parts=st.integers(2, 64), n=ranks, bandwidth=bandwidths, latency=latencies)
def test_one_large_message_is_never_slower_than_many_small_ones(
    size, parts, n, bandwidth, latency
) -> None:
    whole = ring_all_reduce_s(size, n, bandwidth, latency)
    small = parts * ring_all_reduce_s(size / parts, n, bandwidth, latency)
    assert whole <= small * SPARE
    assert ring_all_reduce_s(size, n, bandwidth) == pytest.approx(
        parts * ring_all_reduce_s(size / parts, n, bandwidth)
    )


@given(size=sizes, inside=ranks, nodes=ranks, link=bandwidths, network=bandwidths)
def test_a_hierarchy_is_as_slow_as_its_slower_stage(size, inside, nodes, link, network) -> None:
    both = hierarchical_gather_s(size, inside, nodes, link, network, 1.0)
    for only in (
        hierarchical_gather_s(size, inside, 1.0, link, network, 1.0),
        hierarchical_gather_s(size, 1.0, nodes, link, network, 1.0),
    ):
        assert only <= both * SPARE


@given(a=st.floats(1e-6, 1e9), b=st.floats(1e-6, 1e9), k=factors, power=st.floats(1.0, 16.0))
def test_the_smooth_minimum_has_the_unit_of_its_arguments(a, b, k, power) -> None:
    assert smooth_min(k * a, k * b, power) == pytest.approx(k * smooth_min(a, b, power))
    assert smooth_min(a, b, power) <= smooth_min(a, b, power + 1) * SPARE
    assert smooth_min(a, b, power) <= smooth_min(2 * a, b, power) * SPARE


# --- pipeline --------------------------------------------------------------------------------


@given(stages=ranks, batches=ranks, k=st.integers(1, 64).map(float))
def test_the_bubble_is_a_share_of_the_busy_time_and_falls_with_the_micro_batches(
    stages, batches, k
) -> None:
    ratio = bubble_ratio(stages, batches)
    assert ratio >= 0
    assert (ratio == 0) == (stages == 1)
    assert bubble_ratio(stages, k * batches) == pytest.approx(ratio / k)
    # Busy and idle together: every stage waits for the others but once, m + p - 1 slots in all.
    assert batches * (1 + ratio) == pytest.approx(batches + stages - 1)


@given(stages=ranks, batches=ranks)
def test_a_stage_holds_at_least_one_micro_batch_and_no_more_than_there_are(stages, batches) -> None:
    held = micro_batches_in_flight(stages, batches)
    assert 1 <= held <= min(stages, batches) * SPARE


# --- compute ---------------------------------------------------------------------------------


@given(columns=any_job(), costs=any_costs())
def test_no_device_does_more_than_its_peak(columns, costs) -> None:
    table = jobs(columns)
    busy, launch = micro_batch_s(micro_batch_work(table), table, costs)
    assert number(busy) >= number(micro_batch_work(table).flops) / columns["peak_flops"]
    assert number(launch) >= 0


@given(columns=any_job(**ALONE), costs=any_costs())
def test_no_step_has_a_utilisation_above_one(columns, costs) -> None:
    skipped = 0.5 * columns["is_causal"] * columns["fused_attention"]
    forward = (columns["forward_flops_per_sample"]
               - skipped * columns["attention_flops_per_sample"])  # fmt: skip
    work = training_flops(forward, columns["backward_ratio"], columns["recompute_share"])
    batch = columns["micro_batch"] * columns["accumulation"]
    assert work * batch / columns["peak_flops"] < step(columns, costs)


@given(columns=any_job(), k=st.sampled_from([2.0, 4.0, 8.0]))
def test_flops_grow_with_the_micro_batch_and_are_shared_by_tensor_and_pipeline(columns, k) -> None:
    once = micro_batch_work(jobs(columns))
    more = micro_batch_work(jobs(columns, micro_batch=k * columns["micro_batch"]))
    assert number(more.flops) == pytest.approx(k * number(once.flops))
    assert number(once.traffic_bytes) < number(more.traffic_bytes) < k * number(once.traffic_bytes)
    for degree in ("tensor_parallel", "pipeline_parallel"):
        shared = micro_batch_work(jobs(columns, **{degree: k * columns[degree]}))
        assert number(shared.flops) == pytest.approx(number(once.flops) / k)


@given(columns=any_job(), costs=any_costs(), k=st.floats(1e-3, 1e3))
def test_the_unit_of_bytes_does_not_matter_to_the_traffic(columns, costs, k) -> None:
    # Narrowness compares the peak with the bandwidth: it is no traffic and left out here.
    plain = ComputeCosts(costs.arithmetic, 0.0, costs.attention, costs.traffic, 0.0)
    changed = {name: k * columns[name] for name in ("bytes_per_element", "memory_bytes_per_s")}
    first, second = (jobs(columns), jobs(columns, **changed))
    busy = [number(micro_batch_s(micro_batch_work(t), t, plain)[0]) for t in (first, second)]
    assert busy[1] == pytest.approx(busy[0])


@given(columns=any_job(), costs=any_costs(), k=st.floats(1e-3, 1e3))
def test_the_unit_of_flops_does_not_matter_to_the_arithmetic(columns, costs, k) -> None:
    plain = ComputeCosts(costs.arithmetic, 0.0, costs.attention, costs.traffic, 0.0)
    names = ("forward_flops_per_sample", "attention_flops_per_sample", "peak_flops")
    first, second = (jobs(columns), jobs(columns, **{name: k * columns[name] for name in names}))
    busy = [number(micro_batch_s(micro_batch_work(t), t, plain)[0]) for t in (first, second)]
    assert busy[1] == pytest.approx(busy[0])


# --- the step --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "part"),
    [
        ("peak_flops", "compute_s"),
        ("memory_bytes_per_s", "overhead_s"),
        ("link_bytes_per_s", "exposed_communication_s"),
        ("network_bytes_per_s", "exposed_communication_s"),
    ],
)
@given(columns=any_job(parameter_servers=0.0), costs=any_costs(), k=st.floats(1.0, 100.0))
def test_a_faster_part_of_the_machine_never_lengthens_its_part_of_the_step(
    rate, part, columns, costs, k
) -> None:
    # More peak leaves less backward pass to hide behind: the parts, not only their sum.
    slow = step_columns(jobs(columns), costs)
    fast = step_columns(jobs(columns, **{rate: k * columns[rate]}), costs)
    assert number(getattr(fast, part)) <= number(getattr(slow, part)) * SPARE


@given(columns=any_job(parameter_servers=0.0), costs=any_costs())
def test_what_the_network_carries_takes_no_arithmetic(columns, costs) -> None:
    slow, fast = (
        step_columns(jobs(columns, network_bytes_per_s=b, link_bytes_per_s=b), costs)
        for b in (1e8, 1e13)
    )
    assert number(slow.compute_s) == number(fast.compute_s)
    assert number(slow.overhead_s) == number(fast.overhead_s)


@given(columns=any_job(parameter_servers=0.0, zero_stage=0.0), costs=any_costs(),
       k=st.sampled_from([2.0, 4.0]))  # fmt: skip
def test_replicas_share_the_arithmetic_of_a_fixed_batch_and_never_more(columns, costs, k) -> None:
    whole = columns | {"accumulation": k * columns["accumulation"]}
    one = step_columns(jobs(whole), costs)
    many = step_columns(jobs(columns, data_parallel=k * columns["data_parallel"]), costs)
    assert number(many.compute_s) == pytest.approx(number(one.compute_s) / k)
    # No more than k times as fast, what does not shrink aside.
    assert number(many.total_s) >= number(one.total_s) / k - STEP_OVERHEAD_S


@pytest.mark.parametrize("shared", ["accumulation", "micro_batch"])
@given(columns=any_job(parameter_servers=0.0), costs=any_costs(), k=st.sampled_from([2.0, 8.0]))
def test_more_accelerators_never_lengthen_the_arithmetic_of_a_fixed_batch(
    shared, columns, costs, k
) -> None:
    # The replicas take over accumulation, or a part of every micro-batch.
    whole = columns | {shared: k * columns[shared], "global_batch": k * columns["global_batch"]}
    more = whole | {shared: columns[shared], "data_parallel": k * columns["data_parallel"]}
    one, many = (step_columns(jobs(layout), costs) for layout in (whole, more))
    assert number(many.compute_s) <= number(one.compute_s) * SPARE


@given(columns=any_job(parameter_servers=0.0, pipeline_parallel=1.0), costs=any_costs(),
       k=st.sampled_from([2.0, 8.0]))  # fmt: skip
def test_replicas_with_a_batch_of_their_own_are_no_faster_than_fewer(columns, costs, k) -> None:
    # ZeRO shards the optimizer's work over the replicas, so its part may shrink; stages that a
    # further replica moves to two machines may be joined by a faster network than their link.
    fewer = step_columns(jobs(columns, zero_stage=0.0), costs)
    more = step_columns(
        jobs(columns, zero_stage=0.0, data_parallel=k * columns["data_parallel"]), costs
    )
    assert number(fewer.total_s) <= number(more.total_s) * SPARE


@given(columns=any_job(parameter_servers=0.0), costs=any_costs())
def test_recomputation_costs_arithmetic_and_launches(columns, costs) -> None:
    without, full = (
        step_columns(jobs(columns, recompute_share=share), costs) for share in (0.0, 1.0)
    )
    # At most a forward pass and its traffic on top of a forward and a backward pass.
    assert number(without.compute_s) < number(full.compute_s) < 1.5 * number(without.compute_s)
    assert number(without.overhead_s) <= number(full.overhead_s)


@given(columns=any_job(tensor_parallel=8.0), window=st.floats(0.0, 1e4))
def test_at_most_the_overlap_is_hidden(columns, window) -> None:
    columns = columns | {"zero_stage": 0.0, "parameter_servers": 0.0}
    everything = number(exposed_data_parallel_s(jobs(columns), np.array([0.0])))
    exposed = number(exposed_data_parallel_s(jobs(columns), np.array([window])))
    assert (1 - OVERLAP) * everything <= exposed * SPARE
    assert exposed <= everything * SPARE


@given(columns=any_job(data_parallel=16.0, parameter_servers=0.0))
def test_zero_3_never_exchanges_less_than_plain_replicas(columns) -> None:
    nothing = np.array([0.0])
    plain, sharded = (
        number(exposed_data_parallel_s(jobs(columns, zero_stage=stage, accumulation=1.0), nothing))
        for stage in (0.0, 3.0)
    )
    assert plain <= sharded * SPARE


@given(columns=any_job(parameter_servers=0.0), k=st.sampled_from([2.0, 4.0, 8.0]))
def test_all_reduces_of_a_layer_grow_with_layers_and_shrink_with_stages(columns, k) -> None:
    once = number(tensor_parallel_s(jobs(columns)))
    deeper = number(tensor_parallel_s(jobs(columns, layers=k * columns["layers"])))
    split = number(
        tensor_parallel_s(jobs(columns, pipeline_parallel=k * columns["pipeline_parallel"]))
    )
    assert deeper == pytest.approx(k * once)
    assert split == pytest.approx(once / k)


@given(columns=any_job(tensor_parallel=1.0, pipeline_parallel=1.0), costs=any_costs(),
       servers=st.sampled_from([1.0, 2.0, 4.0]))  # fmt: skip
def test_asynchronous_workers_are_never_faster_than_alone_together(columns, costs, servers) -> None:
    workers = columns["data_parallel"]
    alone = step(columns, costs, data_parallel=1.0, parameter_servers=0.0, zero_stage=0.0)
    together = step(columns, costs, parameter_servers=servers, zero_stage=0.0)
    assert together >= alone / workers * (1 - 1e-9)
    more = step(columns, costs, parameter_servers=2 * servers, zero_stage=0.0)
    assert more <= together * SPARE


# --- memory ----------------------------------------------------------------------------------


@given(columns=any_job(), k=st.sampled_from([2.0, 4.0]))
def test_states_do_not_depend_on_the_batch_and_activations_grow_with_it(columns, k) -> None:
    once = memory_columns(jobs(columns))
    more = memory_columns(jobs(columns, micro_batch=k * columns["micro_batch"]))
    for name in ("parameters_bytes", "gradients_bytes", "optimizer_bytes"):
        assert number(getattr(more, name)) == number(getattr(once, name))
    assert number(more.activations_bytes) == pytest.approx(k * number(once.activations_bytes))


@given(columns=any_job(), k=st.sampled_from([2.0, 4.0]))
def test_longer_samples_take_more_and_more_accumulation_takes_no_more_than_the_stages(
    columns, k
) -> None:
    longer = {name: k * columns[name] for name in (
        "tokens_per_sample", "activation_elements_per_sample", "attention_elements_per_sample",
        "boundary_elements_per_sample")}  # fmt: skip
    before = number(memory_columns(jobs(columns)).used_bytes)
    assert number(memory_columns(jobs(columns, **longer)).used_bytes) > before
    full = columns | {"accumulation": columns["pipeline_parallel"]}
    held = number(memory_columns(jobs(full)).activations_bytes)
    beyond = jobs(full, accumulation=k * columns["pipeline_parallel"])
    assert number(memory_columns(beyond).activations_bytes) == pytest.approx(held)


@given(columns=any_job(zero_stage=0.0), k=st.sampled_from([2.0, 16.0]))
def test_replicas_that_shard_nothing_hold_everything_each(columns, k) -> None:
    columns = columns | {"data_parallel": 2.0}
    one, many = (memory_columns(jobs(columns, data_parallel=n)) for n in (2.0, 2.0 * k))
    assert number(one.used_bytes) == number(many.used_bytes)


@given(use=st.floats(1e6, 1e14), capacity=st.floats(1e6, 1e14), k=factors)
def test_the_chance_to_run_out_has_no_unit_and_falls_with_the_capacity(use, capacity, k) -> None:
    chance = float(out_of_memory_probability(np.array(use), np.array(capacity)))
    other = float(out_of_memory_probability(np.array(k * use), np.array(k * capacity)))
    assert other == pytest.approx(chance, abs=1e-9)
    assert float(out_of_memory_probability(np.array(use), np.array(2 * capacity))) <= chance
