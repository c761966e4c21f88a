"""Layers of transformers predicted from others: physics with fitted constants, then likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.predictor.layer_time import LayerCosts, LayerWork, layer_s
from advisor.predictor.log_fit import fit_constants
from advisor.predictor.smooth_effects import SAME, Effect, SmoothEffects
from advisor.predictor.sustained import Sustained, sustained_flops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.cephalo_rows import LayerRows

KINDS: Final = ("float32 forward", "float32 backward", "float16 forward", "float16 backward")
# What the constants are before any profile was seen, and how far they may lie from it.
DEVICE: Final = {
    "share fp32": (0.95, 0.15), "share tensor": (0.8, 0.3),
    "ridge fp32": (0.015, 0.5), "ridge tensor": (0.001, 1.0),
    "joule fp32": (12e-12, 0.3), "joule tensor": (2.2e-12, 0.4),
    "decline": (0.2, 0.3), "sharpness": (4.0, 0.4),
}  # fmt: skip
# Costs forward and backward: dense, attention, elements, scores, weights, a layer, GPT's tokens.
COSTS: Final = ("dense", "attention", "elements", "scores", "weights", "layer", "token")
USUAL: Final = {
    "float32 forward": (1, 1, 0.6, 5, 0.5, 4e-5, 1),
    "float32 backward": (2, 2, 0.9, 8, 3, 2e-4, 1.4),
    "float16 forward": (1, 1, 2.4, 0.3, 0.5, 1.4e-4, 0.1),
    "float16 backward": (2, 2, 5.3, 0.3, 10, 1.2e-4, 0.1),
}
COST_SPREAD: Final = (0.15, 0.5, 0.7, 0.7, 0.7, 0.7, 0.7)
# The profiles of GPT carry a cost per token that does not grow with the width.
GPT_TOKEN_BYTES: Final = 4e6
ROW_SPREAD: Final = 0.12
FITTED_BATCHES: Final = (1, 2, 4, 8, 16)  # neighbours tell little new
LEARNED_BATCHES: Final = (1, 2, 4, 8, 16, 32)
ROWS_OF_A_CELL: Final = 12

SIZE: Final = {"log_width": 0.5, "log_tokens": 0.7}
CELL: Final = {"of_cell": SAME}
NEAR: Final = {"log_peak": 0.9, "log_power": 0.6, "log_bandwidth": 0.6, "year": 3.6}
SERIES: Final = Effect(0.1, {"of_series": SAME})  # warm boards: a series shares its day
OF_NEW_MODELS: Final = (
    SERIES,
    Effect(0.2, CELL),
    Effect(0.1, {"of_family": SAME}),
    Effect(0.1, {"of_family": SAME, **CELL}),
    Effect(0.04, SIZE),
    Effect(0.1, {**SIZE, **CELL}),
    Effect(0.03, {"log_batch": 1.0}),
    Effect(0.05, {"log_batch": 1.0, **CELL}),
    Effect(0.15, {"log_flops": 1.5, **CELL}),
)
OF_NEW_GPUS: Final = (
    SERIES,
    Effect(0.08, {"of_gpu": SAME}),
    Effect(0.1, NEAR),
    Effect(0.05, SIZE),
    Effect(0.05, {"log_batch": 1.0}),
    Effect(0.06, {"of_network": SAME}),
    Effect(0.05, {**SIZE, **NEAR}),
    Effect(0.05, {"log_batch": 1.0, **NEAR}),
    Effect(0.06, {"of_network": SAME, **NEAR}),
)
NOISE: Final = 0.07


def expected() -> dict[str, tuple[float, float]]:
    """Return expected constants with the spread of their logarithm."""
    costs = {
        f"{cost} {kind}": (value, spread)
        for kind in KINDS
        for cost, value, spread in zip(COSTS, USUAL[kind], COST_SPREAD, strict=True)
        if (cost, value) != ("dense", 1)  # what the share of the peak says already
    }
    return {**DEVICE, **costs}


@dataclass(frozen=True)
class KindRows:
    """Rows of one direction and precision, as columns."""

    kind: str
    rows: np.ndarray
    work: LayerWork
    tensor: np.ndarray
    peak_flops: FloatArray
    memory_bytes_per_s: FloatArray
    power_w: FloatArray
    year: FloatArray
    gpt_tokens: FloatArray

    def seconds(self, constants: Mapping[str, float]) -> FloatArray:
        """Return the times [s]."""

        def of(name: str) -> FloatArray:
            return np.where(self.tensor, constants[f"{name} tensor"], constants[f"{name} fp32"])

        law = Sustained(
            of("share"), of("ridge"), of("joule"), constants["decline"], constants["sharpness"]
        )
        rate = sustained_flops(
            self.peak_flops, self.memory_bytes_per_s, self.power_w, self.year, law
        )
        *costs, token = (constants.get(f"{name} {self.kind}", 1.0) for name in COSTS)
        extra = token * GPT_TOKEN_BYTES * self.gpt_tokens / self.memory_bytes_per_s
        return layer_s(self.work, rate, self.memory_bytes_per_s, LayerCosts(*costs)) + extra


def split(rows: LayerRows, taken: np.ndarray) -> list[KindRows]:
    """Return the rows `taken` by direction and precision; ``rows`` are places among them."""
    frame = rows.frame.iloc[taken]
    kinds = frame["kind"].to_numpy()
    tokens = (frame["batch"] * frame["seq_len"]).where(frame["family"] == "gpt", 0)
    parts = []
    for kind in np.unique(kinds):
        here = np.flatnonzero(kinds == kind)
        own = frame.iloc[here]
        parts.append(
            KindRows(
                kind=kind,
                rows=here,
                work=rows.work.take(taken[here]),
                tensor=own["tensor"].to_numpy(bool),
                peak_flops=own["peak_flops"].to_numpy(float),
                memory_bytes_per_s=own["memory_bytes_per_s"].to_numpy(float),
                power_w=own["power_w"].to_numpy(float),
                year=own["year"].to_numpy(float),
                gpt_tokens=tokens.to_numpy(float)[here],
            )
        )
    return parts


def physics_s(parts: Sequence[KindRows], constants: Mapping[str, float]) -> FloatArray:
    """Return the times [s] of all parts, in the order of the rows they were split from."""
    out = np.empty(sum(len(part.rows) for part in parts))
    for part in parts:
        out[part.rows] = part.seconds(constants)
    return out


def fit_physics(rows: LayerRows, train: np.ndarray) -> dict[str, float]:
    """Fit the constants to the rows of a mask; every GPU, precision and direction counts alike."""
    batch = rows.frame["batch"].isin(FITTED_BATCHES).to_numpy()
    taken = np.flatnonzero(train & batch)
    cell = rows.frame["of_cell"].to_numpy()[taken]
    weight = np.sqrt(ROWS_OF_A_CELL / np.bincount(cell)[cell]) / ROW_SPREAD
    log_s = np.log(rows.seconds()[taken])
    parts = split(rows, taken)
    return fit_constants(lambda found: (log_s - np.log(physics_s(parts, found))) * weight,
                         expected())  # fmt: skip


def predict_rows(
    rows: LayerRows, train: np.ndarray, asked: np.ndarray, effects: Sequence[Effect]
) -> tuple[FloatArray, FloatArray]:
    """Return times [s] and the spread of their logarithm of the rows `asked`, in their order."""
    base = physics_s(split(rows, np.arange(len(rows.frame))), fit_physics(rows, train))
    residual = np.log(rows.seconds() / base)
    learned = train & rows.frame["batch"].isin(LEARNED_BATCHES).to_numpy()
    kinds = rows.frame["kind"].to_numpy()
    mean, spread = np.zeros(len(base)), np.zeros(len(base))
    for kind in np.unique(kinds[asked]):
        known, wanted = learned & (kinds == kind), asked & (kinds == kind)
        smooth = SmoothEffects(effects, noise=NOISE)
        smooth.fit(rows.frame[known], residual[known])
        mean[wanted], spread[wanted] = smooth.predict(rows.frame[wanted])
    return (base * np.exp(mean))[asked], spread[asked]
