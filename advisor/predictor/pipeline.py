"""Pipeline schedules."""

from __future__ import annotations

import numpy as np

from advisor.predictor.arrays import Floats


def bubble_ratio(stages: Floats, micro_batches: Floats) -> Floats:
    """Idle time of a 1F1B or GPipe pipeline as a share of the busy time, ``(p-1)/m``.

    Source: Narayanan et al., 2021, arXiv 2104.04473, section 2.2.

    Examples
    --------
    >>> float(bubble_ratio(8, 64))
    0.109375
    """
    return (np.maximum(stages, 1.0) - 1) / np.maximum(micro_batches, 1.0)


def micro_batches_in_flight(stages: Floats, micro_batches: Floats) -> Floats:
    """Micro-batches whose activations the first stage of a 1F1B pipeline holds, ``min(p, m)``.

    Source: Narayanan et al., 2021, arXiv 2104.04473, section 2.2.1.
    """
    return np.minimum(np.maximum(stages, 1.0), np.maximum(micro_batches, 1.0))
