"""Layouts: everything legal, nothing else, each once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_search import legal_layouts

from advisor.domain import Model, Workload
from advisor.search.layouts import (
    MOST_MICRO_BATCH,
    LayoutTable,
    enumerate_layouts,
    machine_counts,
    micro_batches,
    pipeline_degrees,
    tensor_degrees,
)


def job(*, batch: int, heads: int, layers: int) -> Workload:
    model = Model(
        name="toy", family="language" if heads else "cnn", params=1e8, active_params=1e8,
        layers=layers, hidden=64, heads=heads, kv_heads=heads, vocab=1000, tokens_per_sample=128,
        forward_flops_per_sample=1e10, activation_elements_per_sample=1e6,
        boundary_elements_per_sample=1e4,
    )  # fmt: skip
    return Workload(
        model=model, samples=1e4, global_batch=batch, precision="bf16", trainable_params=1e8
    )


jobs = st.builds(
    job,
    batch=st.integers(1, 400) | st.sampled_from([512, 720, 1024]),
    heads=st.sampled_from([0, 1, 2, 6, 8, 12, 32]),
    layers=st.sampled_from([1, 2, 7, 12, 24, 32]),
)
node_sizes = st.sampled_from([1, 2, 3, 4, 6, 8, 16])


def rows_of(table: LayoutTable) -> np.ndarray:
    return np.stack(
        [table.data_parallel, table.tensor_parallel, table.pipeline_parallel, table.zero_stage,
         table.micro_batch, table.accumulation, table.recompute_share], axis=1,
    ).astype(int)  # fmt: skip


@given(workload=jobs, per_node=node_sizes, most=st.integers(1, 64))
def test_every_layout_is_legal(workload: Workload, per_node: int, most: int) -> None:
    tried = machine_counts(per_node, most)
    table = enumerate_layouts(workload, per_node, tried)
    data, tensor, pipeline, zero, micro, accumulation, _ = rows_of(table).T
    counts = np.repeat(table.counts, np.diff(table.starts))
    assert set(table.counts) <= set(tried)
    assert (data * tensor * pipeline == counts * per_node).all()
    assert (micro * data * accumulation == workload.global_batch).all()
    assert (tensor <= per_node).all()
    assert (per_node % tensor == 0).all()
    assert ((tensor == 1) | (max(workload.model.heads, 1) % tensor == 0)).all()
    assert (workload.model.layers % pipeline == 0).all()
    assert ((pipeline == 1) | (accumulation >= pipeline)).all()
    assert ((zero == 0) | (data > 1)).all()
    assert ((zero <= 1) | (pipeline == 1)).all()
    if not workload.model.is_transformer:
        assert (tensor * pipeline == 1).all()


@settings(max_examples=40, deadline=None)
@given(workload=jobs, per_node=node_sizes, count=st.integers(1, 6))
def test_no_legal_layout_is_forgotten_or_listed_twice(
    workload: Workload, per_node: int, count: int
) -> None:
    table = enumerate_layouts(workload, per_node, [count])
    listed = [tuple(row) for row in rows_of(table).tolist()]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(legal_layouts(workload, per_node, count * per_node))


def test_a_count_without_layouts_is_left_out() -> None:
    table = enumerate_layouts(job(batch=8, heads=0, layers=7), 1, [1, 2, 3, 4])
    assert table.counts.tolist() == [1, 2, 4]
    assert table.starts[0] == 0
    assert table.starts[-1] == len(table)


def test_a_batch_that_divides_over_nothing_gives_an_empty_table() -> None:
    table = enumerate_layouts(job(batch=7, heads=0, layers=1), 8, [1, 2])
    assert len(table) == 0
    assert table.counts.tolist() == []


def test_counts_are_small_ones_and_powers_of_two_and_three_times_those() -> None:
    assert machine_counts(1, 50) == [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48]
    assert machine_counts(8, 64) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert machine_counts(8, 7) == []
    assert machine_counts(8, 20_000)[-1] == 2048
    assert machine_counts(1, 20_000)[-1] == 16_384


@given(st.integers(1, 10**8))
def test_micro_batches_divide_and_hold_one_sample(samples: int) -> None:
    sizes = micro_batches(samples)
    assert sizes[0] == 1
    assert all(samples % size == 0 and size <= MOST_MICRO_BATCH for size in sizes)
    assert len(set(sizes)) == len(sizes)
    assert (samples in sizes) == (samples <= MOST_MICRO_BATCH)


def test_degrees_of_networks_without_heads_are_one() -> None:
    cnn = job(batch=64, heads=0, layers=24)
    assert tensor_degrees(cnn.model, 8) == [1]
    assert pipeline_degrees(cnn.model, 64) == [1]


@pytest.mark.parametrize(
    ("heads", "per_node", "degrees"),
    [
        (32, 8, [1, 2, 4, 8]),
        (6, 8, [1, 2]),
        (32, 3, [1]),
        (32, 6, [1, 2]),
        (16, 16, [1, 2, 4, 8, 16]),
    ],
)
def test_tensor_degrees_divide_heads_and_node(
    heads: int, per_node: int, degrees: list[int]
) -> None:
    assert tensor_degrees(job(batch=64, heads=heads, layers=24).model, per_node) == degrees


def test_a_million_samples_on_twenty_thousand_devices_stay_a_small_table() -> None:
    workload = job(batch=10**6, heads=32, layers=32)
    table = enumerate_layouts(workload, 8, machine_counts(8, 20_000))
    assert 0 < len(table) < 100_000
