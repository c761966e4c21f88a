"""Work of one training step of a convolutional network, in seconds of the data sheet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.arrays import FloatArray
from advisor.predictor.baseline import STEP_OVERHEAD_S
from advisor.predictor.compute import BACKWARD_PASSES, FORWARD_PASSES

if TYPE_CHECKING:
    from advisor.zoo.layers.network import Network

WORK: Final = ("step", "arithmetic_s", "traffic_s", "tensors")
BYTES_PER_ELEMENT: Final = 4.0
# Before any run of the kind: kernels reach 60 % of the peak and 90 % of the bandwidth. Written
# down here, not fitted, so that no measured network reaches the prediction of another through it.
# What a tensor costs depends on the framework: launches, and an exchange where it has servers.
DATA_SHEET_COSTS: Final = (STEP_OVERHEAD_S, 1 / 0.6, 1 / 0.9, math.nan)


def convnet_work(
    network: Network, batch: float, peak_flops: float, memory_bytes_per_s: float
) -> FloatArray:
    """Return the work of a step, shape (4,): one per name in `WORK`.

    For `advisor.predictor.additive.AdditiveCostRegressor` with the prior `DATA_SHEET_COSTS`.

    Parameters
    ----------
    network : Network
        Totals of the layers for one sample.
    batch : float
        Samples of a step on the device.
    peak_flops, memory_bytes_per_s : float
        Of the device, in FP32 [FLOP/s, bytes/s].
    """
    passes = FORWARD_PASSES + BACKWARD_PASSES
    elements = network.kept * batch * passes + 3.0 * network.params
    return np.array(
        [
            1.0,
            network.tiled_training_flops * batch / peak_flops,
            elements * BYTES_PER_ELEMENT / memory_bytes_per_s,
            float(network.tensors),
        ]
    )
