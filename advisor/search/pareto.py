"""The Pareto front of two quantities that should both be small."""

from __future__ import annotations

import numpy as np

from advisor.predictor.arrays import FloatArray


def pareto_front(first: FloatArray, second: FloatArray) -> np.ndarray:
    """Return the positions of rows that no other row beats in both, ordered by `first`.

    Of rows equal in both the earliest is kept.

    Examples
    --------
    >>> pareto_front(np.array([1.0, 2.0, 3.0, 2.5]), np.array([9.0, 5.0, 6.0, 4.0])).tolist()
    [0, 1, 3]
    """
    order = np.lexsort((second, first))
    ranked = second[order]
    best_before = np.concatenate([[np.inf], np.minimum.accumulate(ranked)[:-1]])
    return order[ranked < best_before]
