"""Collectives: the equations, against numbers that one can check by hand or in the source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.collectives import (
    LINK_EFFICIENCY,
    LINK_LATENCY_S,
    NETWORK_EFFICIENCY,
    NETWORK_LATENCY_S,
    hierarchical_gather_s,
    point_to_point_s,
    ring_all_reduce_s,
    ring_gather_s,
    smooth_min,
)

sizes = st.floats(1.0, 1e12)
ranks = st.integers(1, 10_000).map(float)
bandwidths = st.floats(1e6, 1e13)


@pytest.mark.parametrize(("n", "share"), [(1, 0.0), (2, 1.0), (4, 1.5), (8, 1.75), (1024, 1.998)])
def test_a_ring_all_reduce_moves_twice_all_but_one_share_of_the_buffer(n, share) -> None:
    # Patarasuk and Yuan, 2009: 2 (n-1)/n of the buffer is the least any algorithm can move.
    assert ring_all_reduce_s(1e9, n, 1e9) == pytest.approx(share, abs=1e-4)


def test_the_latency_of_a_ring_grows_with_its_hops() -> None:
    assert ring_all_reduce_s(0.0, 8, 1e9, 1e-5) == pytest.approx(2 * 7 * 1e-5)
    assert ring_gather_s(0.0, 8, 1e9, 1e-5) == pytest.approx(7 * 1e-5)


@given(size=sizes, n=ranks, bandwidth=bandwidths)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(size, n, bandwidth) -> None:
    gather = ring_gather_s(size, n, bandwidth, 1e-6)
    assert ring_all_reduce_s(size, n, bandwidth, 1e-6) == pytest.approx(2 * gather)


def test_the_bus_bandwidth_of_a_dgx_a100_is_that_of_nccl_tests() -> None:
    # NVIDIA/nccl-tests, PERFORMANCE.md: bus bandwidth = S/t · 2(n-1)/n; 230 to 235 GB/s measured.
    size, n = 8e9, 8
    time = ring_all_reduce_s(size, n, 300e9 * LINK_EFFICIENCY, LINK_LATENCY_S)
    assert size / time * 2 * (n - 1) / n / 1e9 == pytest.approx(234, abs=3)


def test_a_hierarchical_gather_by_hand() -> None:
    # 16 GB over 4 machines of 8: inside 7/8 · 16 GB, between 3/4 · 16 GB of one group.
    inside = 7 / 8 * 16e9 / (300e9 * LINK_EFFICIENCY)
    between = 3 / 4 * 16e9 / (100e9 * NETWORK_EFFICIENCY)
    hops = 3 * LINK_LATENCY_S + 2 * NETWORK_LATENCY_S
    assert between > inside
    found = hierarchical_gather_s(16e9, 8, 4, 300e9, 100e9, 1)
    assert found == pytest.approx(between + hops)
    fast_network = hierarchical_gather_s(16e9, 8, 4, 300e9, 1e15, 1)
    assert fast_network == pytest.approx(inside + hops)


def test_groups_on_one_machine_share_its_network() -> None:
    alone = hierarchical_gather_s(1e9, 1, 4, 1e12, 1e9, 1)
    shared = hierarchical_gather_s(1e9, 1, 4, 1e12, 1e9, 8)
    assert shared == pytest.approx(8 * alone, rel=1e-3)


@given(size=sizes, link=bandwidths, network=bandwidths)
def test_one_rank_costs_nothing(size, link, network) -> None:
    assert ring_all_reduce_s(size, 1.0, link, 1e-5) == 0
    assert hierarchical_gather_s(size, 1.0, 1.0, link, network, 1.0) == 0


@given(size=sizes, n=ranks, nodes=ranks, link=bandwidths, network=bandwidths)
def test_a_gather_never_gets_slower_with_faster_links(size, n, nodes, link, network) -> None:
    time = hierarchical_gather_s(size, n, nodes, link, network, 1.0)
    assert np.isfinite(time)
    assert time >= 0
    assert hierarchical_gather_s(size, n, nodes, 2 * link, network, 1.0) <= time
    assert hierarchical_gather_s(size, n, nodes, link, 2 * network, 1.0) <= time


def test_sending_to_a_neighbour() -> None:
    assert point_to_point_s(1e9, 1e9, 0.5) == 1.5


@given(a=st.floats(1e-6, 1e12), b=st.floats(1e-6, 1e12))
def test_the_smooth_minimum_lies_below_both_and_not_far(a, b) -> None:
    least = smooth_min(a, b)
    assert least <= min(a, b) * (1 + 1e-12)
    # Where both are equal it is lowest: 2 ** (-1/4) of either.
    assert least >= 2**-0.25 * min(a, b) * (1 - 1e-12)
    assert least == pytest.approx(smooth_min(b, a))


def test_the_smooth_minimum_saturates_at_the_cap() -> None:
    workers = np.arange(1.0, 1001.0)
    speed = smooth_min(workers * 4.6, 40.0)
    assert speed[0] == pytest.approx(4.6, rel=1e-3)
    assert speed[-1] == pytest.approx(40.0, rel=1e-3)
    assert (np.diff(speed) >= 0).all()
    assert smooth_min(3.0, 3.0) == pytest.approx(3.0 * 2**-0.25)
