"""Long links: windows cap connections, slow links set the pace of a pipeline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.pipeline import bubble_ratio
from advisor.predictor.wan import far_pipeline, window_limited_bytes_per_s

seconds = st.floats(1e-4, 10.0)
counts = st.integers(1, 512)


@pytest.mark.parametrize(("delay_s", "measured_s"), [(0.005, 0.512), (0.010, 0.972)])
def test_measured_transfers_over_tcp_are_reproduced(delay_s, measured_s) -> None:
    # Gloo, 128 MB between two p3.2xlarge at 10 Gbit/s (DS3Lab/Decentralized_FM_alpha).
    rate = window_limited_bytes_per_s(10e9 / 8, 2 * delay_s)
    assert float(128e6 / rate + delay_s) == pytest.approx(measured_s, rel=0.05)


def test_a_near_link_has_all_its_bandwidth() -> None:
    assert float(window_limited_bytes_per_s(1e9, 0.0)) == 1e9


@given(forward=seconds, backward=seconds, stages=counts, micro_batches=counts)
def test_without_slow_links_a_step_has_the_known_bubble(
    forward, backward, stages, micro_batches
) -> None:
    found = far_pipeline(forward, backward, stages, micro_batches, 0.0, 0.0)
    busy = micro_batches * (forward + backward)
    assert found.total_s[0] == pytest.approx(busy * (1 + bubble_ratio(stages, micro_batches)))


@given(compute=seconds, transfer=seconds, factor=st.floats(1.0, 50.0), micro_batches=counts)
def test_a_step_is_positive_and_never_shorter_on_slower_links(
    compute, transfer, factor, micro_batches
) -> None:
    near, far = (
        far_pipeline(compute, 3 * compute, 8, micro_batches, t, 7 * t).total_s[0]
        for t in (transfer, transfer * factor)
    )
    assert 0 < near <= far * (1 + 1e-12)


def test_a_published_step_over_one_gigabit_is_near() -> None:
    # DT-FM's runtime, 3 layers on each of 8 V100, 96 micro-batches of 8.4 MB, 10 ms and 1 Gbit/s:
    # 16.3 s (with 61 ms of computation for a micro-batch on a stage).
    transfer = 8.39e6 / (1e9 / 8)
    path = 7 * (transfer + 0.010)
    found = far_pipeline(0.015, 0.046, 8, 96, transfer, path).total_s[0]
    assert found == pytest.approx(16.3, rel=0.15)
