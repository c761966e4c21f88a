"""Latency of whole networks on a GPU that was not measured: physics, then likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.predictor.collectives import LINK_EFFICIENCY, ring_all_reduce_s
from advisor.predictor.layer_time import WRITE_AND_READ, LayerCosts, LayerWork, layer_s
from advisor.predictor.log_fit import fit_constants
from advisor.predictor.pipeline import bubble_ratio
from advisor.predictor.smooth_effects import Effect, SmoothEffects
from advisor.predictor.sustained import Sustained, sustained_flops
from benchmarks.boards.neusight_rows import BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.predictor.arrays import FloatArray

# What the constants are before anything was measured, and how far they may lie from it.
EXPECTED: Final = {
    "share": (0.95, 0.1), "ridge": (0.015, 0.5), "joule": (12e-12, 0.3), "decline": (0.18, 0.3),
    "sharpness": (4.0, 0.4), "matrix": (0.6, 0.3), "attention": (1.3, 0.3),
    "elements": (1.2, 0.5), "scores": (1.6, 0.4), "optimizer": (7.5, 0.5), "layer": (2.4e-4, 0.5),
    "fused": (0.5, 0.3), "layers alone": (1.0, 0.1),
}  # fmt: skip
TRAINING: Final = 3.0  # forward, and twice that backward
ROW_SPREAD: Final = 0.1
RATE_SPREAD: Final = 0.15
ROWS_OF_A_GPU: Final = 4.0
DEVICE: Final = ("peak_flops", "memory_bytes_per_s", "power_w", "year")

NEAR: Final = {"log_peak": 0.9, "log_power": 0.6, "log_bandwidth": 0.6, "year": 3.6, "amd": 0.45}
ALIKE: Final = {
    "log_flops": 2.0, "log_scores": 1.5, "log_width": 1.0, "train": 1.0, "fused": 1.0,
    "of_dp": 1.0, "of_tp": 1.0, "of_pp": 1.0, "of_experts": 1.0,
}  # fmt: skip
TWINS: Final = {name: length / 4 for name, length in ALIKE.items()}
EFFECTS: Final = (
    Effect(0.08, NEAR),
    Effect(0.02, ALIKE),
    Effect(0.07, {**NEAR, **ALIKE}),
    Effect(0.08, {**NEAR, **TWINS}),
)
NOISE: Final = 0.03
ELSEWHERE: Final = 1e3  # a width that no network has: rates of layers share the device only


@dataclass(frozen=True)
class Table:
    """Columns of rows as arrays: the physics is asked a thousand times per fit."""

    columns: Mapping[str, FloatArray]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Table:
        """Take the numeric columns."""
        numbers = rows.select_dtypes("number")
        return cls({str(name): numbers[name].to_numpy(float) for name in numbers})

    def rate(self, constants: Mapping[str, float]) -> FloatArray:
        """Sustained arithmetic of the devices [FLOP/s]."""
        amd = self.columns["amd"]
        share = constants["share"] * np.where(amd > 0, constants["matrix"], 1.0)
        law = Sustained(
            share=share,
            ridge_bytes=constants["ridge"],
            joule_per_flop=constants["joule"],
            decline=constants["decline"],
            sharpness=constants["sharpness"],
        )
        peak, bandwidth, power, year = (self.columns[name] for name in DEVICE)
        return sustained_flops(peak, bandwidth, power, year, law)

    def seconds(self, constants: Mapping[str, float]) -> FloatArray:
        """Latency of an iteration [s]."""
        own = self.columns
        times = np.where(own["train"] > 0, TRAINING, 1.0)
        share = own["samples"] / own["tp"] * times
        fused = np.where(own["fused"] > 0, constants["fused"], 1.0)
        moved = WRITE_AND_READ * BYTES * share * fused
        work = LayerWork(
            dense_flops=own["dense_flops"] * share,
            attention_flops=own["attention_flops"] * share,
            element_bytes=own["elements"] * moved,
            score_bytes=own["scores"] * moved,
            weight_bytes=own["params"] * BYTES / own["tp"] * own["train"],
            layers=own["layers"] * times * own["micro_batches"],
        )
        costs = LayerCosts(1.0, *(constants[name] for name in (
            "attention", "elements", "scores", "optimizer", "layer")))  # fmt: skip
        busy = layer_s(work, self.rate(constants), own["memory_bytes_per_s"], costs)
        pipeline = (1 + bubble_ratio(own["pp"], own["micro_batches"])) / own["pp"]
        return busy * pipeline + _communication_s(own)


def _communication_s(own: Mapping[str, FloatArray]) -> FloatArray:
    """All-reduces of gradients and of tensor-parallel layers [s], none of it hidden."""
    link = own["link_bytes_per_s"] * LINK_EFFICIENCY
    gradients = ring_all_reduce_s(own["params"] * BYTES * own["train"], own["dp"], link)
    boundary = own["samples"] * own["seq_len"] * own["hidden"] * BYTES
    calls = 2 * own["layers"] * (1 + own["train"])
    return np.asarray(gradients + calls * ring_all_reduce_s(boundary, own["tp"], link))


def fit_physics(rows: pd.DataFrame, rates: pd.DataFrame) -> dict[str, float]:
    """Fit the constants to rows and to rates of layers on other devices; GPUs count alike."""
    table, layers = Table.of(rows), Table.of(rates)
    log_s = np.log(rows["measured_ms"].to_numpy(float) / 1e3)
    number = rows.groupby("gpu")["gpu"].transform("size").to_numpy(float)
    weight = np.sqrt(ROWS_OF_A_GPU / number) / ROW_SPREAD
    log_rate = np.log(rates["rate_flops"].to_numpy(float))

    def residual(constants: Mapping[str, float]) -> FloatArray:
        of_rows = (log_s - np.log(table.seconds(constants))) * weight
        alone = np.log(constants["layers alone"])
        of_rates = (log_rate - np.log(layers.rate(constants)) + alone) / RATE_SPREAD
        return np.concatenate([of_rows, of_rates])

    return fit_constants(residual, EXPECTED)


def predict_rows(
    train: pd.DataFrame, rates: pd.DataFrame, asked: pd.DataFrame
) -> tuple[FloatArray, FloatArray]:
    """Return latencies [s] and the spread of their logarithm."""
    constants = fit_physics(train, rates)
    off = np.log(train["measured_ms"].to_numpy(float) / 1e3 / Table.of(train).seconds(constants))
    slower = np.log(Table.of(rates).rate(constants) / rates["rate_flops"].to_numpy(float))
    smooth = SmoothEffects(EFFECTS, noise=NOISE)
    smooth.fit(
        pd.concat([train, _of_device_only(rates, train)], ignore_index=True),
        np.concatenate([off, slower - np.median(slower)]),
    )
    mean, spread = smooth.predict(asked)
    return Table.of(asked).seconds(constants) * np.exp(mean), spread


def _of_device_only(rates: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    means = {name: float(train[name].mean()) for name in ALIKE}
    return rates.assign(**{**means, "log_width": ELSEWHERE})
