"""Sets of time intervals: unions and differences, without a loop over intervals.

Kernels of several streams overlap; adding their durations counts the same moment twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Union:
    """Disjoint intervals in order of time.

    >>> import numpy as np
    >>> busy = Union.of(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    >>> busy.length, busy.within(2.0, 5.5).length
    (4.0, 1.5)
    """

    starts: Times
    ends: Times

    @classmethod
    def of(cls, starts: Times, ends: Times) -> Union:
        """Return the union of intervals, of which some may overlap."""
        if starts.size == 0:
            return cls(starts, ends)
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(ends[order])
        first = np.ones(starts.size, dtype=bool)
        first[1:] = starts[1:] > reach[:-1]
        last = np.roll(first, -1)
        last[-1] = True
        return cls(starts[first], reach[last])

    @property
    def length(self) -> float:
        """Length of all intervals together."""
        return float(np.sum(self.ends - self.starts))

    def within(self, start: float, end: float) -> Union:
        """Return the part inside a window."""
        starts = np.maximum(self.starts, start)
        ends = np.minimum(self.ends, end)
        kept = ends > starts
        return Union(starts[kept], ends[kept])

    def joined(self, other: Union) -> Union:
        """Return the union of both."""
        return Union.of(
            np.concatenate([self.starts, other.starts]), np.concatenate([self.ends, other.ends])
        )

    def length_without(self, other: Union) -> float:
        """Length of the part that `other` does not cover."""
        return max(self.joined(other).length - other.length, 0.0)

    def covered(self, times: Times) -> Times:
        """Return how much of the time before each of some moments the intervals cover.

        >>> Union(np.array([0.0, 4.0]), np.array([2.0, 5.0])).covered(np.array([1.0, 3.0, 9.0]))
        array([1., 2., 3.])
        """
        if not self.starts.size:
            return np.zeros_like(times)
        moments = np.column_stack([self.starts, self.ends]).ravel()
        until = np.cumsum(self.ends - self.starts)
        before = np.concatenate([[0.0], until[:-1]])
        passed = np.interp(times, moments, np.column_stack([before, until]).ravel())
        return np.asarray(passed, dtype=np.float64)
