"""Layers take the time that was measured, and scale as physics says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.layer_time import (
    FP32_BACKWARD,
    FP32_FORWARD,
    TENSOR_BACKWARD,
    TENSOR_FORWARD,
    LayerWork,
    layer_s,
    layer_work,
)
from advisor.predictor.sustained import FP32, TENSOR, Sustained, sustained_flops

peaks = st.floats(1e12, 1e16)
bandwidths = st.floats(1e11, 2e13)
powers = st.floats(50.0, 2000.0)
years = st.integers(2014, 2026)
more = st.floats(1.01, 10.0)

# One law for all devices: 14 % off on average for a device that it was not fitted to.
LAW = 0.26


def llama(hidden: float, weights: float, tokens: float, batch: float, size: float) -> LayerWork:
    return layer_work(
        hidden=hidden,
        heads=hidden / 128,
        weights=weights,
        tokens=tokens,
        batch=batch,
        bytes_per_element=size,
    )


# Milliseconds of one layer of Llama 7B, batch 8, 512 tokens, FP32: github:benson-guo/cephalo.
@pytest.mark.parametrize(
    ("peak", "bandwidth", "power", "year", "forward_ms", "backward_ms"),
    [
        pytest.param(19.5e12, 1.56e12, 400, 2020, 93.05, 187.7, id="A100"),
        pytest.param(38.7e12, 768e9, 300, 2020, 99.00, 165.2, id="A6000"),
        pytest.param(91.6e12, 864e9, 300, 2022, 54.58, 89.45, id="L40S"),
        pytest.param(15.7e12, 900e9, 250, 2017, 121.4, 247.6, id="V100"),
    ],
)
def test_layers_in_fp32_come_near_the_published_times_without_a_run(
    peak: float, bandwidth: float, power: float, year: int, forward_ms: float, backward_ms: float
) -> None:
    rate = sustained_flops(peak, bandwidth, power, year, FP32)
    work = llama(4096.0, 202_383_360.0, 512.0, 8.0, 4.0)
    assert layer_s(work, rate, bandwidth, FP32_FORWARD) * 1e3 == pytest.approx(forward_ms, rel=LAW)
    assert layer_s(work, rate, bandwidth, FP32_BACKWARD) * 1e3 == pytest.approx(
        backward_ms, rel=LAW
    )


# One layer of Llama 13B, batch 8, 2,048 tokens, FP16: as above.
@pytest.mark.parametrize(
    ("peak", "bandwidth", "power", "year", "forward_ms", "backward_ms"),
    [
        pytest.param(312e12, 2.04e12, 400, 2020, 52.39, 111.1, id="A100"),
        pytest.param(835.5e12, 3.94e12, 400, 2023, 31.67, 76.14, id="H100 NVL"),
    ],
)
def test_layers_on_tensor_cores_come_near_the_published_times_without_a_run(
    peak: float, bandwidth: float, power: float, year: int, forward_ms: float, backward_ms: float
) -> None:
    rate = sustained_flops(peak, bandwidth, power, year, TENSOR)
    work = llama(5120.0, 317_204_480.0, 2048.0, 8.0, 2.0)
    forward = layer_s(work, rate, bandwidth, TENSOR_FORWARD) * 1e3
    backward = layer_s(work, rate, bandwidth, TENSOR_BACKWARD) * 1e3
    assert forward == pytest.approx(forward_ms, rel=LAW)
    assert backward == pytest.approx(backward_ms, rel=LAW)


@given(peaks, bandwidths, powers, years)
def test_no_device_keeps_up_more_than_its_share_of_the_peak_or_than_its_power_buys(
    peak: float, bandwidth: float, power: float, year: int
) -> None:
    rate = sustained_flops(peak, bandwidth, power, year, FP32)
    assert 0 < rate <= FP32.share * peak
    newest = FP32.joule_per_flop * np.exp(-FP32.decline * 3)
    assert rate <= power / newest * (1 + 1e-9)


@given(peaks, bandwidths, powers, years, more)
def test_more_of_anything_is_never_slower(
    peak: float, bandwidth: float, power: float, year: int, factor: float
) -> None:
    rate = sustained_flops(peak, bandwidth, power, year, TENSOR) * (1 - 1e-9)
    assert sustained_flops(peak * factor, bandwidth, power, year, TENSOR) >= rate
    assert sustained_flops(peak, bandwidth * factor, power, year, TENSOR) >= rate
    assert sustained_flops(peak, bandwidth, power * factor, year, TENSOR) >= rate
    assert sustained_flops(peak, bandwidth, power, year + 1, TENSOR) >= rate


def test_without_a_limit_of_memory_or_power_the_share_of_the_peak_remains() -> None:
    free = Sustained(0.8, 0.0, 1e-11, 0.2, 4.0)
    assert sustained_flops(1e13, 1e12, np.inf, 2020, free) == pytest.approx(8e12)


def test_a_small_board_is_limited_by_its_power() -> None:
    sharp = Sustained(1.0, 0.0, 1e-11, 0.0, 50.0)
    assert sustained_flops(1e15, 1e12, 70.0, 2020, sharp) == pytest.approx(7e12, rel=1e-6)


@given(st.floats(64.0, 16384.0), st.floats(16.0, 8192.0), st.floats(1.0, 64.0), peaks, bandwidths)
def test_layers_take_time_and_less_on_a_better_device(
    hidden: float, tokens: float, batch: float, rate: float, bandwidth: float
) -> None:
    work = llama(hidden, 12 * hidden**2, tokens, batch, 2.0)
    time = float(layer_s(work, rate, bandwidth, TENSOR_FORWARD))
    assert time > 0
    assert layer_s(work, 2 * rate, bandwidth, TENSOR_FORWARD) < time
    assert layer_s(work, rate, 2 * bandwidth, TENSOR_FORWARD) < time


@given(st.floats(1.0, 64.0), more)
def test_all_but_weights_and_launches_grow_with_the_batch(batch: float, factor: float) -> None:
    one = llama(1024.0, 12 * 1024.0**2, 512.0, batch, 2.0)
    larger = llama(1024.0, 12 * 1024.0**2, 512.0, batch * factor, 2.0)
    assert larger.dense_flops == pytest.approx(factor * one.dense_flops)
    assert larger.attention_flops == pytest.approx(factor * one.attention_flops)
    assert larger.element_bytes == pytest.approx(factor * one.element_bytes)
    assert larger.score_bytes == pytest.approx(factor * one.score_bytes)
    assert larger.weight_bytes == one.weight_bytes
    assert larger.layers == one.layers


def test_scores_grow_with_the_square_of_the_tokens() -> None:
    short = llama(1024.0, 12 * 1024.0**2, 512.0, 1.0, 2.0)
    long = llama(1024.0, 12 * 1024.0**2, 1024.0, 1.0, 2.0)
    assert long.attention_flops == pytest.approx(4 * short.attention_flops)
    assert long.score_bytes == pytest.approx(4 * short.score_bytes)
    assert long.dense_flops == pytest.approx(2 * short.dense_flops)


def test_ten_layers_take_ten_times_as_long() -> None:
    work = llama(1024.0, 12 * 1024.0**2, 512.0, 1.0, 4.0)
    one = layer_s(work, 1e13, 1e12, FP32_FORWARD)
    assert layer_s(work.times(10.0), 1e13, 1e12, FP32_FORWARD) == pytest.approx(10 * one)
