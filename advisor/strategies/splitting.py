"""Sharing whole samples out: by weight, or exactly by dynamic programming over devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from advisor.predictor.arrays import FloatArray


def by_weight(total: int, weights: FloatArray, most: FloatArray | None = None) -> np.ndarray:
    """Share `total` out in proportion to weights, whole, none above its limit.

    What rounding leaves goes one each to the largest weights. Where a limit binds, the rest is
    shared out among the others in the same way.

    Parameters
    ----------
    weights : array, shape (n,)
        Above 0.
    most : array, shape (n,), optional
        Largest share of each.

    Returns
    -------
    array of int, shape (n,)
        Sums to `total`, or to the sum of all limits where that is less.

    Examples
    --------
    >>> by_weight(64, np.array([12.0, 12.0, 8.0, 16.0])).tolist()
    [16, 16, 10, 22]
    """
    limit = np.full(len(weights), total) if most is None else np.floor(most).astype(int)
    shares = np.zeros(len(weights), dtype=int)
    left = min(total, int(limit.sum()))
    free = limit > 0
    while left > 0:
        ideal = np.where(free, weights, 0.0) / weights[free].sum() * left
        bound = free & (ideal >= limit)
        if not bound.any():
            break
        shares[bound] = limit[bound]
        left -= int(limit[bound].sum())
        free &= ~bound
    if left > 0:
        shares[free] = np.floor(ideal[free]).astype(int)
        order = np.argsort(-np.where(free, weights, -np.inf), kind="stable")
        shares[order[: left - int(shares[free].sum())]] += 1
    return shares


@dataclass(frozen=True)
class Shares:
    """The least cost of every total that some devices can take together, and how.

    ``cost[s]`` is the least sum of costs with a total of s samples, infinite where there is none;
    ``split[s]`` is what the devices of `left` take of it.
    """

    cost: FloatArray
    split: np.ndarray | None = None
    left: Shares | None = None
    right: Shares | None = None

    def joined(self, other: Shares) -> Shares:
        """Return what both together can take: the min-plus convolution of their costs."""
        size = len(self.cost)
        total, own = np.indices((size, size))
        rest = total - own
        sums = np.where(rest >= 0, self.cost[own] + other.cost[np.maximum(rest, 0)], np.inf)
        split = np.argmin(sums, axis=1)
        return Shares(sums[np.arange(size), split], split, self, other)

    def of(self, total: int) -> list[int]:
        """Return what each device takes of `total`, in their order."""
        if self.split is None or self.left is None or self.right is None:
            return [total]
        own = int(self.split[total])
        return self.left.of(own) + self.right.of(total - own)

    @classmethod
    def of_equal(cls, cost: FloatArray, devices: int) -> Self:
        """Return the shares of so many equal devices; halves are computed once."""

        @cache
        def made(number: int) -> Shares:
            if number == 1:
                return Shares(cost)
            return made(number - number // 2).joined(made(number // 2))

        whole = made(devices)
        return cls(whole.cost, whole.split, whole.left, whole.right)
