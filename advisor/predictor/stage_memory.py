"""Peak memory of the device of one pipeline stage whose layers are known one by one.

Equations as in `memory` (Rajbhandari et al., 2020, arXiv 1910.02054; Narayanan et al., 2021,
arXiv 2104.04473), for stages that differ in layers and in what they hold at their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.core.units import GB
from advisor.predictor.arrays import FloatArray, Floats

# Driver context, framework and kernels, and the communicators of a tensor-parallel group: the
# reserves that the simulator of Sailor states (eth-easl/sailor, MIT).
ALONE_BYTES: Final = 2.0 * GB
GROUP_BYTES: Final = 3.0 * GB
# Logits live beside their gradient while the loss is computed.
LOGIT_COPIES: Final = 2.0


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Parts of the peak [bytes], one row per stage: their sum is the peak."""

    states_bytes: FloatArray
    activations_bytes: FloatArray
    working_bytes: FloatArray
    context_bytes: FloatArray

    @property
    def used_bytes(self) -> FloatArray:
        """The sum of the parts."""
        return (
            self.states_bytes + self.activations_bytes + self.working_bytes + self.context_bytes
        )  # fmt: skip


def stage_memory(
    params: Floats,
    state_bytes_per_param: Floats,
    activation_bytes: Floats,
    in_flight: Floats,
    largest_layer_bytes: Floats,
    logit_bytes: Floats,
    tensor_parallel: Floats,
) -> StageMemory:
    """Return the parts of the peak of one device of each stage.

    Parameters
    ----------
    params : array
        Parameters that the device holds.
    state_bytes_per_param : array
        Weights, gradients and optimizer: 16 for Adam in fp32 [bytes].
    activation_bytes : array
        What the stage keeps of one micro-batch [bytes].
    in_flight : array
        Micro-batches kept at a time, ``min(stages after this one + 1, micro-batches)`` in 1F1B.
    largest_layer_bytes : array
        What the layer at work keeps of one micro-batch: its gradients take as much [bytes].
    logit_bytes : array
        Logits of one micro-batch on the last stage, 0 elsewhere [bytes].
    tensor_parallel : array
        Devices that share a layer.

    Examples
    --------
    One device, a million parameters in fp32 with Adam:

    >>> float(stage_memory(1e6, 16, 0, 1, 0, 0, 1).states_bytes)
    16000000.0
    """
    context = np.where(np.asarray(tensor_parallel) > 1, GROUP_BYTES, ALONE_BYTES)
    return StageMemory(
        states_bytes=np.asarray(params * np.asarray(state_bytes_per_param)),
        activations_bytes=np.asarray(activation_bytes * np.asarray(in_flight)),
        working_bytes=np.asarray(largest_layer_bytes + LOGIT_COPIES * np.asarray(logit_bytes)),
        context_bytes=context,
    )
