"""The 20 CNNs of CM-DARE, against what the TensorFlow profiler measured.

Tensors and GFLOPs: cake-lab/CM-DARE@263b7f1 data/processed_data/speed_data. The profiler ran one
training step of one image: a forward pass and a backward pass of twice its cost.
"""

from __future__ import annotations

import pytest

from advisor.zoo import get, names
from advisor.zoo.kinds.convnet import ConvNet

MEASURED = {
    "cm-dare-resnet-15": (50, 0.63099),
    "cm-dare-resnet-32": (104, 1.658697),
    "cm-dare-custom-1": (62, 0.860117),
    "cm-dare-custom-2": (74, 1.087711),
    "cm-dare-custom-3": (98, 1.542543),
    "cm-dare-custom-4": (140, 2.343835),
    "cm-dare-custom-5": (170, 2.915532),
    "cm-dare-custom-6": (224, 3.943594),
    "cm-dare-custom-7": (278, 4.970946),
    "cm-dare-custom-8": (326, 5.882144),
    "cm-dare-custom-9": (122, 2.001266),
    "cm-dare-custom-10": (242, 4.28463),
    "cm-dare-shake-shake-16": (210, 0.663908),
    "cm-dare-shake-shake-small": (216, 2.587432),
    "cm-dare-shake-shake-small-d32": (264, 3.273946),
    "cm-dare-shake-shake-48": (216, 5.768252),
    "cm-dare-shake-shake-64": (216, 10.20809),
    "cm-dare-shake-shake-64-d32": (264, 12.950909),
    "cm-dare-shake-shake-80": (216, 15.906946),
    "cm-dare-shake-shake-big": (216, 22.86482),
}


def test_all_twenty_are_there() -> None:
    assert {name for name in names() if name.startswith("cm-dare-")} == set(MEASURED)


@pytest.mark.parametrize("name", MEASURED)
def test_parameters_are_exactly_the_measured_ones(name: str) -> None:
    architecture = get(name)
    assert architecture.params == architecture.published_params


@pytest.mark.parametrize(("name", "tensors"), [(n, t) for n, (t, _) in MEASURED.items()])
def test_tensors_are_exactly_the_measured_ones(name: str, tensors: int) -> None:
    architecture = get(name)
    assert isinstance(architecture, ConvNet)
    assert architecture.count(32).tensors == tensors


@pytest.mark.parametrize(("name", "gflops"), [(n, g) for n, (_, g) in MEASURED.items()])
def test_a_training_step_takes_the_measured_flops(name: str, gflops: float) -> None:
    forward = get(name).model().forward_flops_per_sample
    assert 3 * forward / 1e9 == pytest.approx(gflops, rel=0.02)


@pytest.mark.parametrize(
    ("width", "share"),
    # Three stages of equal work and twice the channels of the one before; the first one's do not
    # fill a tile of 32: 48 take 64, 80 take 96, 16 take 32.
    [("small", 1), ("64", 1), ("48", 1 + 1 / 9), ("80", 1 + 1 / 15), ("16", 1 + 1 / 3)],
)
def test_channels_that_do_not_fill_a_tile_are_computed_all_the_same(width, share) -> None:
    architecture = get(f"cm-dare-shake-shake-{width}")
    assert isinstance(architecture, ConvNet)
    network = architecture.count(32)
    assert network.tiled_training_flops / (3 * network.flops) == pytest.approx(share, abs=0.04)
