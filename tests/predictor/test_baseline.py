"""The step from physics: by hand, by its units, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_examples import (
    BASE,
    COSTS,
    LAYERS,
    PARAMS,
    TOKENS,
    WIDTH,
    any_costs,
    any_job,
    make,
    number,
)

from advisor.predictor.baseline import (
    OVERLAP,
    STEP_OVERHEAD_S,
    StepColumns,
    exposed_data_parallel_s,
    optimizer_s,
    stage_transfer_s,
    step_columns,
    tensor_parallel_s,
)
from advisor.predictor.collectives import (
    LINK_EFFICIENCY,
    LINK_LATENCY_S,
    NETWORK_EFFICIENCY,
    NETWORK_LATENCY_S,
)
from advisor.predictor.compute import ComputeCosts
from advisor.predictor.jobs import Jobs

PARTS = ("compute_s", "exposed_communication_s", "bubble_s", "overhead_s")
BOUNDARY_BYTES = TOKENS * WIDTH * 2
LINK = 300e9 * LINK_EFFICIENCY
NETWORK = 100e9 * NETWORK_EFFICIENCY


def step(columns: dict[str, float], costs: ComputeCosts = COSTS, **changes: float) -> float:
    return number(step_columns(Jobs.from_columns(**columns | changes), costs).total_s)


# --- by hand ---------------------------------------------------------------------------------


def test_tensor_parallelism_all_reduces_four_times_per_layer() -> None:
    # Shoeybi et al., 2019, arXiv 1909.08053, figure 4: two forward and two backward per layer.
    found = number(tensor_parallel_s(make(tensor_parallel=8.0, data_parallel=1.0)))
    once = 2 * 7 / 8 * BOUNDARY_BYTES / LINK + 2 * 7 * LINK_LATENCY_S
    assert found == pytest.approx(4 * LAYERS * once)
    again = number(
        tensor_parallel_s(make(tensor_parallel=8.0, data_parallel=1.0, recompute_share=1.0))
    )
    assert again == pytest.approx(6 / 4 * found)


def test_a_tensor_parallel_group_over_two_machines_uses_all_of_their_network() -> None:
    # A ring over 16 devices crosses each machine's network once, over all of its cards.
    found = number(tensor_parallel_s(make(tensor_parallel=16.0, data_parallel=1.0)))
    once = 2 * 15 / 16 * BOUNDARY_BYTES / NETWORK + 2 * 15 * NETWORK_LATENCY_S
    assert found == pytest.approx(4 * LAYERS * once)


def test_a_fast_network_does_not_make_a_ring_faster_than_the_links_inside() -> None:
    found = number(tensor_parallel_s(make(tensor_parallel=16.0, network_bytes_per_s=1e15)))
    once = 2 * 15 / 16 * BOUNDARY_BYTES / LINK + 2 * 15 * NETWORK_LATENCY_S
    assert found == pytest.approx(4 * LAYERS * once)


def test_stages_on_one_machine_send_over_its_links() -> None:
    jobs = make(pipeline_parallel=8.0, data_parallel=1.0)
    assert number(stage_transfer_s(jobs)) == pytest.approx(
        2 * (BOUNDARY_BYTES / LINK + LINK_LATENCY_S)
    )


@pytest.mark.parametrize(
    ("tensor", "data", "senders"),
    [
        (1.0, 8.0, 8),  # a stage fills a machine: all its devices send at once
        (8.0, 4.0, 8),
        (1.0, 2.0, 2),  # four stages on a machine: only the last one's devices cross
    ],
)
def test_stages_on_several_machines_share_the_network(tensor, data, senders) -> None:
    jobs = make(tensor_parallel=tensor, data_parallel=data, pipeline_parallel=16.0)
    share = BOUNDARY_BYTES / tensor
    assert number(stage_transfer_s(jobs)) == pytest.approx(
        2 * (share * senders / NETWORK + NETWORK_LATENCY_S)
    )


def test_gradients_hide_behind_the_backward_pass_up_to_the_overlap() -> None:
    jobs = make()
    gradients = 2 * 7 / 8 * PARAMS * 2 / LINK + 2 * 3 * LINK_LATENCY_S
    exposed = number(exposed_data_parallel_s(jobs, np.array([1e6])))
    assert exposed == pytest.approx((1 - OVERLAP) * gradients)
    # Nothing to hide behind: all of it shows.
    assert number(exposed_data_parallel_s(jobs, np.array([0.0]))) == pytest.approx(gradients)


def test_replicas_with_pipelines_stay_on_one_machine_where_they_can() -> None:
    # Megatron-LM's order: tensor, data, pipeline. Two tensor-parallel peers and four replicas
    # fill a machine; the stages are on four machines and no gradient crosses the network.
    columns = {"tensor_parallel": 2.0, "pipeline_parallel": 4.0, "data_parallel": 4.0}
    fast, slow = (
        number(exposed_data_parallel_s(make(**columns, network_bytes_per_s=b), np.array([0.0])))
        for b in (1e15, 1e3)
    )
    assert fast == slow
    shard = PARAMS / 8 * 2
    assert fast == pytest.approx(2 * (3 / 4 * shard / LINK + 2 * LINK_LATENCY_S))


def test_tensor_parallel_peers_share_the_network_of_their_machine() -> None:
    # Eight groups of four replicas, one replica of each on every machine.
    jobs = make(tensor_parallel=8.0, data_parallel=4.0)
    gradients = 2 * (3 / 4 * PARAMS / 8 * 2 * 8 / NETWORK + 2 * NETWORK_LATENCY_S)
    assert number(exposed_data_parallel_s(jobs, np.array([0.0]))) == pytest.approx(gradients)


def test_zero_3_moves_half_as_much_again() -> None:
    # Rajbhandari et al., 2020, arXiv 1910.02054, section 7.2: 3 Ψ instead of 2 Ψ.
    nothing = np.array([0.0])
    plain = number(exposed_data_parallel_s(make(), nothing))
    sharded = number(exposed_data_parallel_s(make(zero_stage=3.0), nothing))
    assert sharded == pytest.approx(1.5 * plain)


def test_the_optimizer_reads_and_writes_its_states_once() -> None:
    # 12 bytes read and written, 2 bytes of gradient.
    assert number(optimizer_s(make())) == pytest.approx(26 * PARAMS / 2.04e12)
    assert number(optimizer_s(make(zero_stage=1.0))) == pytest.approx(26 * PARAMS / 8 / 2.04e12)
    full = make(bytes_per_element=4.0, optimizer_bytes_per_param=8.0)
    assert number(optimizer_s(full)) == pytest.approx(20 * PARAMS / 2.04e12)


def test_the_step_of_a_llama_2_7b_is_that_of_a_good_framework() -> None:
    # One sample of 4,096 tokens on an A100 at 50 to 55 % of its peak takes 1.1 s.
    flops = 3 * BASE["forward_flops_per_sample"]
    assert flops / (312e12 * step(BASE)) == pytest.approx(0.5, abs=0.1)


# --- parameter servers -----------------------------------------------------------------------


def asynchronous(workers: float, servers: float = 1.0, **changes: float) -> float:
    columns = BASE | {
        "params": 5e5, "active_params": 5e5, "trainable_params": 5e5, "embedding_params": 0.0,
        "hidden": 0.0, "forward_flops_per_sample": 1e9, "attention_flops_per_sample": 0.0,
        "activation_elements_per_sample": 1e6, "attention_elements_per_sample": 0.0,
        "boundary_elements_per_sample": 1e4, "is_transformer": 0.0, "micro_batch": 128.0,
        "devices_per_node": 1.0, "network_bytes_per_s": 1.25e9, "data_parallel": workers,
        "parameter_servers": servers,
    }  # fmt: skip
    return step(columns | changes)


def test_asynchronous_workers_update_in_turn() -> None:
    # A step is the time between two updates: twice the workers, half of it, until the servers'
    # network is full (CM-DARE, arXiv 2004.03072, figure 6).
    wide = {"network_bytes_per_s": 1e15}
    assert asynchronous(4.0, **wide) == pytest.approx(asynchronous(1.0, **wide) / 4)
    assert asynchronous(1.0) / 8 < asynchronous(8.0) < asynchronous(4.0)


def test_parameter_servers_saturate_at_their_network() -> None:
    # Gradients in, parameters out, four bytes each.
    update = 8 * 5e5 / 1.25e9
    assert asynchronous(1000.0) == pytest.approx(update, rel=0.01)
    assert asynchronous(1000.0, servers=2.0) == pytest.approx(update / 2, rel=0.01)


def test_rows_with_and_without_parameter_servers_do_not_mix() -> None:
    both = make(parameter_servers=np.array([0.0, 1.0]))
    alone = make()
    mixed = step_columns(both, COSTS)
    assert mixed.total_s[0] == number(step_columns(alone, COSTS).total_s)
    # Seven billion parameters are too many for one server.
    assert mixed.total_s[1] == pytest.approx(8 * PARAMS / 100e9, rel=0.01)


# --- what must always hold -------------------------------------------------------------------


@given(columns=any_job(), costs=any_costs())
def test_every_part_is_finite_and_not_negative_and_they_sum_to_the_step(columns, costs) -> None:
    parts = step_columns(Jobs.from_columns(**columns), costs)
    values = [number(getattr(parts, name)) for name in PARTS]
    assert all(np.isfinite(value) and value >= 0 for value in values)
    assert number(parts.total_s) == pytest.approx(sum(values))
    assert number(parts.total_s) > 0


@pytest.mark.parametrize(
    "name", ["peak_flops", "memory_bytes_per_s", "link_bytes_per_s", "network_bytes_per_s"]
)
@given(columns=any_job(), costs=any_costs(), factor=st.floats(1.0, 100.0))
def test_faster_hardware_never_makes_a_step_longer(name, columns, costs, factor) -> None:
    before = step(columns, costs)
    assert step(columns, costs, **{name: factor * columns[name]}) <= before * (1 + 1e-9)


@given(columns=any_job(parameter_servers=0.0), costs=any_costs())
def test_twice_the_batch_never_takes_less(columns, costs) -> None:
    before = step(columns, costs) * (1 - 1e-9)
    batch = 2 * columns["global_batch"]
    accumulated = {"accumulation": 2 * columns["accumulation"], "global_batch": batch}
    assert step(columns, costs, **accumulated) >= before
    larger = {"micro_batch": 2 * columns["micro_batch"], "global_batch": batch}
    assert step(columns, costs, **larger) >= before


@given(columns=any_job(pipeline_parallel=8.0, parameter_servers=0.0), costs=any_costs())
def test_more_micro_batches_make_a_smaller_share_of_bubble(columns, costs) -> None:
    jobs = Jobs.from_columns(**columns | {"accumulation": np.array([1.0, 2.0, 8.0, 64.0])})
    parts = step_columns(jobs, costs)
    share = parts.bubble_s / parts.total_s
    assert (np.diff(share) < 0).all()


@given(columns=any_job(tensor_parallel=1.0, data_parallel=1.0, pipeline_parallel=1.0))
def test_one_device_communicates_with_nobody(columns) -> None:
    parts = step_columns(Jobs.from_columns(**columns | {"parameter_servers": 0.0}), COSTS)
    assert number(parts.exposed_communication_s) == 0
    assert number(parts.bubble_s) == 0


@given(columns=any_job(), costs=any_costs(), k=st.floats(0.1, 10.0))
def test_a_machine_k_times_as_fast_in_all_takes_the_kth_part(columns, costs, k) -> None:
    # All bytes/s and FLOP/s times k, all latencies over k: only the unit of time has changed.
    launch_free = ComputeCosts(
        arithmetic=costs.arithmetic, narrowness=costs.narrowness, attention=costs.attention,
        traffic=costs.traffic, layer_pass_s=0.0,
    )  # fmt: skip
    no_latency = {"tensor_parallel": 1.0, "pipeline_parallel": 1.0, "data_parallel": 1.0}
    columns = columns | no_latency | {"parameter_servers": 0.0}
    rates = ("peak_flops", "memory_bytes_per_s", "link_bytes_per_s", "network_bytes_per_s")
    before = step(columns, launch_free) - STEP_OVERHEAD_S
    after = step(columns, launch_free, **{name: k * columns[name] for name in rates})
    assert after - STEP_OVERHEAD_S == pytest.approx(before / k)


@given(columns=any_job(tensor_parallel=8.0, data_parallel=16.0, pipeline_parallel=4.0),
       k=st.floats(2.0, 1000.0))  # fmt: skip
def test_communication_of_large_buffers_takes_the_kth_part_on_links_k_times_as_fast(
    columns, k
) -> None:
    hops = 1e-3  # generous for the latencies of all calls below
    links = {name: k * columns[name] for name in ("link_bytes_per_s", "network_bytes_per_s")}
    slow, fast = (Jobs.from_columns(**columns | change) for change in ({}, links))
    layers = columns["layers"]
    for seconds, calls in ((tensor_parallel_s, 6 * layers), (stage_transfer_s, 2)):
        assert number(seconds(fast)) == pytest.approx(
            number(seconds(slow)) / k, abs=calls * hops, rel=1e-6
        )


# --- columns ---------------------------------------------------------------------------------


def test_layouts_in_columns_and_machines_in_rows_give_the_same_as_one_by_one() -> None:
    layout = {
        "data_parallel": [8.0, 2.0, 1.0, 16.0], "tensor_parallel": [1.0, 4.0, 8.0, 1.0],
        "pipeline_parallel": [1.0, 2.0, 4.0, 1.0], "zero_stage": [3.0, 0.0, 1.0, 2.0],
        "accumulation": [4.0, 8.0, 16.0, 2.0], "recompute_share": [0.0, 1.0, 1.0, 0.0],
    }  # fmt: skip
    machine = {"peak_flops": [312e12, 990e12, 65e12], "network_bytes_per_s": [1e11, 4e11, 1e9]}
    scalars = {name: np.asarray(value) for name, value in BASE.items()}
    wide = scalars | {name: np.array([value]) for name, value in layout.items()}
    wide |= {name: np.array(value)[:, None] for name, value in machine.items()}
    parts = step_columns(Jobs(**wide), COSTS)
    assert parts.total_s.shape == (3, 4)
    for row in range(3):
        for column in range(4):
            one = {name: value[column] for name, value in layout.items()}
            one |= {name: value[row] for name, value in machine.items()}
            assert parts.total_s[row, column] == pytest.approx(step(BASE | one))


def test_parts_can_be_scaled_and_taken() -> None:
    parts = step_columns(make(micro_batch=np.array([1.0, 2.0, 4.0])), COSTS)
    twice = parts.times(np.full(3, 2.0))
    assert isinstance(twice, StepColumns)
    assert twice.total_s == pytest.approx(2 * parts.total_s)
    assert parts.take(np.array([2])).total_s == parts.total_s[2]
