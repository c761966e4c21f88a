"""Regression on residuals by effects that fade with distance: a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from advisor.predictor.arrays import FloatArray
from advisor.predictor.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from sklearn.gaussian_process.kernels import Kernel

SAME: Final = 1e-3  # as a length: rows go together where a column of whole numbers is equal
FAR: Final = 1e9  # as a length: the column does not matter


@dataclass(frozen=True)
class Effect:
    """Something that rows share the more, the nearer they are.

    Attributes
    ----------
    sigma : float
        How large it is, as a logarithm.
    lengths : mapping
        By column, the distance at which rows are no longer alike; `SAME` where the column must
        be equal. Columns that are not named do not matter.
    """

    sigma: float
    lengths: Mapping[str, float]


class SmoothEffects:
    """Mean and spread of a residual from rows that are alike.

    Far from all measured rows the mean fades to 0 and the spread grows to the effects' own: the
    physics is bent only where there are data.

    Source: Rasmussen and Williams, 2006, Gaussian Processes for Machine Learning, chapter 2 and
    section 4.2.4 (sums and products of covariances).

    Parameters
    ----------
    effects : sequence of Effect
        What adds up to the residual.
    noise : float
        Spread of a single row.
    largest : float
        Residuals beyond this count as this: disturbed runs are not effects.
    """

    def __init__(self, effects: Sequence[Effect], *, noise: float, largest: float = 0.6) -> None:
        self.effects = tuple(effects)
        self.noise = noise
        self.largest = largest
        self.columns = sorted({name for effect in effects for name in effect.lengths})

    def fit(self, rows: pd.DataFrame, residual: FloatArray) -> Self:
        """Learn from rows with the columns that the effects name."""
        process = GaussianProcessRegressor(self._kernel(), optimizer=None)
        with one_thread():
            self._process = process.fit(
                rows[self.columns].to_numpy(float), np.clip(residual, -self.largest, self.largest)
            )
        return self

    def predict(self, rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return mean and spread of the residual, each of shape (n,)."""
        with one_thread():
            mean, spread = self._process.predict(
                rows[self.columns].to_numpy(float), return_std=True
            )
        return np.asarray(mean), np.asarray(spread)

    def _kernel(self) -> Kernel:
        terms = [
            ConstantKernel(effect.sigma**2)
            * RBF([effect.lengths.get(name, FAR) for name in self.columns])
            for effect in self.effects
        ]
        return reduce(add, [*terms, WhiteKernel(self.noise**2)])
