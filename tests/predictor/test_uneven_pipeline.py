"""Uneven pipelines: equal ones give the known bubble, slow links and large messages cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.pipeline import bubble_ratio
from advisor.predictor.uneven_pipeline import (
    Chains,
    chain_parts,
    exchange_s,
    exposed_transfer_s,
    slowest_chains,
)

seconds = st.floats(1e-4, 10.0)
rows = st.lists(seconds, min_size=1, max_size=6)


def _chains(compute, transfer=None, *, buffered=False, micro_batches=8.0) -> Chains:
    times = np.array([compute], dtype=float)
    links = np.zeros_like(times) if transfer is None else np.array([transfer], dtype=float)
    kept = np.full(times.shape, buffered)
    return Chains(times, links, kept, np.array([float(micro_batches)]))


@given(stages=st.integers(1, 16), micro_batches=st.integers(1, 256), compute=seconds)
def test_equal_stages_without_transfers_idle_for_the_known_bubble(
    stages, micro_batches, compute
) -> None:
    parts = chain_parts(_chains([compute] * stages, micro_batches=micro_batches))
    busy = micro_batches * compute
    assert parts.total_s[0] == pytest.approx(busy * (1 + bubble_ratio(stages, micro_batches)))
    assert parts.compute_s[0] == pytest.approx(busy)


def test_a_published_plan_of_two_unlike_machines_is_reproduced() -> None:
    # eth-easl/sailor, plan N2_D1: 128 micro-batches through an RTX 3090 (0.206 s) and a Titan RTX
    # (0.650 s) that exchange 16.8 MB at 115 MB/s took 119.8 s.
    chains = _chains([0.206, 0.650], [0.146, 0.0], micro_batches=128)
    assert chain_parts(chains).total_s[0] == pytest.approx(119.8, rel=0.02)


def test_a_sender_does_not_wait_for_messages_that_fit_into_the_buffers() -> None:
    waits = exposed_transfer_s(_chains([1.0, 1.0, 1.0], [0.1, 0.2, 0.0], buffered=True))
    assert waits[0] == pytest.approx([0.0, 0.2, 0.4])
    waits = exposed_transfer_s(_chains([1.0, 1.0, 1.0], [0.1, 0.2, 0.0]))
    assert waits[0] == pytest.approx([0.2, 0.6, 0.4])


@given(compute=rows, transfer=seconds, factor=st.floats(1.0, 100.0), kept=st.booleans())
def test_a_step_is_positive_and_never_shorter_on_slower_links(
    compute, transfer, factor, kept
) -> None:
    links = [transfer] * (len(compute) - 1) + [0.0]
    fast = _chains(compute, links, buffered=kept)
    slow = replace(fast, transfer_s=fast.transfer_s * factor)
    assert 0 < chain_parts(fast).total_s[0] <= chain_parts(slow).total_s[0] * (1 + 1e-12)


@given(compute=rows, factor=st.floats(1.0, 100.0), stage=st.integers(0, 5))
def test_a_step_is_never_longer_on_a_faster_stage(compute, factor, stage) -> None:
    slow = _chains(compute)
    faster = slow.compute_s.copy()
    faster[0, stage % len(compute)] /= factor
    fast = chain_parts(replace(slow, compute_s=faster)).total_s[0]
    assert fast <= chain_parts(slow).total_s[0] * (1 + 1e-12)


def test_the_slowest_chain_makes_the_step_of_its_plan() -> None:
    parts = chain_parts(
        Chains(np.array([[1.0], [3.0], [2.0]]), np.zeros((3, 1)), np.ones((3, 1), dtype=bool),
               np.array([4.0, 2.0, 1.0]))
    )  # fmt: skip
    slowest = slowest_chains(parts, np.array([0, 0, 1]))
    assert parts.take(slowest).total_s.tolist() == [6.0, 2.0]


def test_pipelines_that_cut_the_layers_differently_exchange_layer_by_layer() -> None:
    # One pipeline has layers 0-1 | 2, the other one 0 | 1-2: three rings, the middle one between
    # the first stage of one and the last of the other.
    held = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]], dtype=bool)
    time = exchange_s(np.array([1e9, 2e9, 3e9]), held, np.array([1e9, 1e9, 1e9, 0.5e9]))
    # The last replica is in the rings of layers 1 and 2, both as slow as it is.
    assert time == pytest.approx((2e9 + 3e9) / 0.5e9)


@given(sizes=st.lists(st.floats(1.0, 1e12), min_size=1, max_size=8), bandwidth=st.floats(1e6, 1e12))
def test_layers_that_one_replica_holds_are_not_exchanged(sizes, bandwidth) -> None:
    held = np.ones((1, len(sizes)), dtype=bool)
    assert exchange_s(np.array(sizes), held, np.array([bandwidth])) == 0.0
