"""How long one layer takes on a device, by micro-batch: measured or predicted, then a line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Line:
    """A time that grows with the micro-batch: ``slope_s · b + intercept_s``."""

    slope_s: float
    intercept_s: float

    def at(self, batch: FloatArray) -> FloatArray:
        """Return the time of micro-batches [s]; never below 0."""
        return np.maximum(self.slope_s * batch + self.intercept_s, 0.0)


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Forward and backward pass of one layer on one device.

    Attributes
    ----------
    forward, backward : Line
        What holds beyond the table.
    forward_s, backward_s : array, shape (n,)
        Times of micro-batches of 1 to n samples [s]; may be empty.
    log_half_width : float
        Half the width of the 90 % interval of the logarithm of the time; 0 where it was measured.
    """

    forward: Line
    backward: Line
    forward_s: FloatArray
    backward_s: FloatArray
    log_half_width: float = 0.0

    def at(self, batch: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return forward and backward time of micro-batches of whole samples [s]."""
        known = len(self.forward_s)
        inside = np.asarray(batch) <= known
        row = np.clip(np.asarray(batch, dtype=int), 1, max(known, 1)) - 1
        both = []
        for table, line in ((self.forward_s, self.forward), (self.backward_s, self.backward)):
            beyond = line.at(np.asarray(batch, float))
            both.append(np.where(inside, table[row], beyond) if known else beyond)
        return both[0], both[1]

    def times(self, factor: float) -> Self:
        """Return the times of a device that takes `factor` times as long."""
        lines = (Line(line.slope_s * factor, line.intercept_s * factor)
                 for line in (self.forward, self.backward))  # fmt: skip
        forward, backward = lines
        return replace(
            self,
            forward=forward,
            backward=backward,
            forward_s=self.forward_s * factor,
            backward_s=self.backward_s * factor,
        )

    def in_units(self, unit: int) -> Self:
        """Return the times by micro-batches that count `unit` samples as one."""
        return replace(
            self,
            forward=Line(self.forward.slope_s * unit, self.forward.intercept_s),
            backward=Line(self.backward.slope_s * unit, self.backward.intercept_s),
            forward_s=self.forward_s[unit - 1 :: unit],
            backward_s=self.backward_s[unit - 1 :: unit],
        )

    @classmethod
    def of_table(
        cls, forward_s: FloatArray, backward_s: FloatArray, log_half_width: float = 0.0
    ) -> Self:
        """Return the times of a table from micro-batch 1 on, and the least-squares lines of it.

        Raises
        ------
        InvalidInputError
            If the tables differ in length, or hold fewer than two micro-batches.

        Examples
        --------
        >>> times = LayerTimes.of_table(np.array([2.0, 3.0]), np.array([4.0, 6.0]))
        >>> [float(one) for one in times.at(np.array(5))]
        [6.0, 12.0]
        """
        if len(forward_s) != len(backward_s) or len(forward_s) < 2:
            raise InvalidInputError(
                f"{len(forward_s)} forward and {len(backward_s)} backward times.",
                where="layer profile",
                todo="Give both of micro-batches 1, 2 and so on.",
            )
        batch = np.arange(1, len(forward_s) + 1)
        lines = (Line(*(float(c) for c in np.polyfit(batch, column, 1)))
                 for column in (forward_s, backward_s))  # fmt: skip
        forward, backward = lines
        return cls(forward, backward, forward_s, backward_s, log_half_width)
