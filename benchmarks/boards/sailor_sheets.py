"""Layer times as data sheets have them, for a user who has profiled nothing yet."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pandas as pd

from advisor.core.errors import PredictionError
from advisor.predictor.collectives import ring_all_reduce_s
from advisor.predictor.hardware import facts_of, usual_link
from benchmarks.boards.sailor_inputs import LayerTables
from benchmarks.boards.sailor_plans import time_terms

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.sailor_plans import Plan

TOKENS: Final = 2048
# Share of the fp32 peak that a layer reaches, and how many forward passes a backward one is.
PEAK_SHARE: Final = 0.4
BACKWARD: Final = 2.0
# Until the kernels of one layer are launched, in either direction, and its all-reduces.
LAUNCH_S: Final = 5e-4
ALL_REDUCES: Final = 2
FP32_BYTES: Final = 4.0
# Adam in fp32 reads weight, gradient and moments and writes all but the gradient.
UPDATE_BYTES: Final = 28.0
EVERY: Final = (1.0, 1.0, 1.0)
STEP: Final = 1e-3


@dataclass(frozen=True)
class SheetTables(LayerTables):
    """The tables with every layer's time from arithmetic, launches and all-reduces.

    ``scale`` stretches these three, to see how much each makes of a step.
    """

    scale: tuple[float, ...] = EVERY

    @classmethod
    def of(cls, tables: LayerTables, scale: tuple[float, ...] = EVERY) -> Self:
        """Take sizes and links of `tables`."""
        known = {f.name: getattr(tables, f.name) for f in fields(LayerTables)}
        return cls(**known, scale=scale)

    def layer_times(self, model: str, gpu: str, ranks: int, batch: int) -> FloatArray:
        """Return forward, backward and update of every layer, shape (layers, 3) [s]."""
        facts = facts_of(self.catalog, pd.Series([gpu]))
        peak = float(facts["peak_fp32_flops"].iloc[0])
        bandwidth = float(facts["memory_bytes_per_s"].iloc[0])
        if not (peak > 0 and bandwidth > 0):
            raise PredictionError(f"Nothing is known of {gpu!r}.")
        sizes = self.layer_sizes(model, ranks)
        params = sizes["params_bytes"].to_numpy(float) / FP32_BYTES
        output = sizes["activation_output_bytes"].to_numpy(float)
        flops = 2 * params * TOKENS + 4 * TOKENS * output / FP32_BYTES / ranks
        flops[0] = 0.0  # an embedding is looked up
        flops[-1] = 2 * params[-1] * TOKENS  # the head has no attention
        arithmetic = batch * flops / (PEAK_SHARE * peak)
        link = self.inside.get((gpu, ranks), float(usual_link(facts)[0]))
        reduced = ALL_REDUCES * float(ring_all_reduce_s(output[0] * batch, ranks, link))
        blocks = np.ones(len(params))
        blocks[[0, -1]] = 0.0
        parts = np.array([arithmetic, LAUNCH_S * blocks, reduced * blocks])
        forward = np.array(self.scale) @ parts
        backward = np.array(self.scale) @ (parts * [[BACKWARD], [1.0], [1.0]])
        update = np.full(len(params), UPDATE_BYTES * params.sum() / bandwidth)
        return np.column_stack([forward, backward, update])


def sheet_terms(plan: Plan, tables: LayerTables) -> FloatArray:
    """Return arithmetic, launches, all-reduces, transfers, exchange and update of a step [s].

    A step is linear in each of the first three about its busiest stage, so each makes of it what
    stretching it adds (Euler's theorem of homogeneous functions).
    """
    plain = time_terms(plan, SheetTables.of(tables))
    stretched = [
        time_terms(plan, SheetTables.of(tables, tuple(np.array(EVERY) + STEP * unit)))
        for unit in np.eye(len(EVERY))
    ]
    made = [max((terms[0] - plain[0]) / STEP, 0.0) for terms in stretched]
    return np.array([*made, *plain[1:]])
