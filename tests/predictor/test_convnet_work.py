"""Work of a CNN: in seconds of the data sheet, whatever the device."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predictor.convnet_work import DATA_SHEET_COSTS, WORK, convnet_work
from advisor.zoo import get
from advisor.zoo.kinds.convnet import ConvNet
from advisor.zoo.layers.network import Network


def network(name: str = "cm-dare-resnet-32") -> Network:
    architecture = get(name)
    assert isinstance(architecture, ConvNet)
    return architecture.count(32)


def test_resnet_32_of_cm_dare_by_hand() -> None:
    # 1.659 GFLOPs a training step and image (TensorFlow profiler), 4 % more with the idle
    # channels of the first stage's tiles; 128 images on 4.113 TFLOP/s.
    step, arithmetic_s, traffic_s, tensors = convnet_work(network(), 128, 4.113e12, 240e9)
    assert (step, tensors) == (1.0, 104)
    assert arithmetic_s == pytest.approx(1.659e9 * 1.04 * 128 / 4.113e12, rel=0.02)
    # 1.24 million elements an image, five passes of four bytes.
    assert traffic_s == pytest.approx(1.24e6 * 128 * 5 * 4 / 240e9, rel=0.02)


def test_there_is_a_cost_for_every_column_and_none_known_for_a_tensor() -> None:
    assert len(DATA_SHEET_COSTS) == len(WORK) == 4
    assert math.isnan(DATA_SHEET_COSTS[WORK.index("tensors")])
    assert all(cost > 0 for cost in DATA_SHEET_COSTS[:3])


@given(batch=st.integers(1, 4096), k=st.floats(1e-3, 1e3))
def test_a_device_k_times_as_fast_has_the_kth_part_of_the_seconds(batch, k) -> None:
    slow = convnet_work(network(), batch, 4e12, 2e11)
    fast = convnet_work(network(), batch, k * 4e12, k * 2e11)
    assert fast[1:3] == pytest.approx(slow[1:3] / k)
    assert (fast[[0, 3]] == slow[[0, 3]]).all()


@given(batch=st.integers(1, 4096))
def test_twice_the_batch_is_twice_the_arithmetic_and_less_than_twice_the_traffic(batch) -> None:
    # The parameters are read once, however large the batch.
    once, twice = (convnet_work(network(), n, 4e12, 2e11) for n in (batch, 2 * batch))
    assert twice[1] == pytest.approx(2 * once[1])
    assert once[2] < twice[2] < 2 * once[2]
