"""Cephalo's layer profiles: a layer of a transformer on a GPU, of an unseen model or GPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.boards.cephalo_model import OF_NEW_GPUS, OF_NEW_MODELS, predict_rows
from benchmarks.boards.cephalo_rows import layer_rows, read_layers
from benchmarks.boards.nested_spread import leave_each_out_scaled
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import Scored
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray
    from advisor.predictor.smooth_effects import Effect
    from benchmarks.boards.cephalo_rows import LayerRows
    from benchmarks.boards.context import Context

FILE: Final = "data/papers/cephalo_layer_latency_points.csv"
QUICK_GROUPS: Final = 3


@BOARDS.register("cephalo_model")
def cephalo_model(context: Context) -> Iterator[Scored]:
    """Layers of a network that was profiled on no GPU."""
    points = read_layers(context.reference / FILE)
    yield board("cephalo_model", points, context.catalog, "network", 5.0, quick=context.quick)


@BOARDS.register("cephalo_gpu")
def cephalo_gpu(context: Context) -> Iterator[Scored]:
    """Layers on a GPU on which no network was profiled."""
    points = read_layers(context.reference / FILE)
    yield board("cephalo_gpu", points, context.catalog, "gpu", 20.0, quick=context.quick)


def board(
    name: str, points: pd.DataFrame, catalog: Catalog, held_out: str, bar: float, *, quick: bool
) -> Scored:
    """Score the time of a layer in training (forward and backward), `held_out` left out whole."""
    rows = layer_rows(points, catalog)
    effects = OF_NEW_MODELS if held_out == "network" else OF_NEW_GPUS
    labels = points[held_out].to_numpy(str)
    measured = rows.seconds().reshape(2, -1).T
    held, parts = leave_each_out_scaled(
        measured.sum(axis=1), labels, partial(_predict, rows, effects),
        np.unique(labels)[:QUICK_GROUPS] if quick else None,
    )  # fmt: skip
    return Scored(
        name=name,
        title="Layers of transformers, forward and backward",
        held_out="a network" if held_out == "network" else "a GPU type",
        runs_of="public profiles of Cephalo",
        held=held,
        bars={"mape": bar},
        beside=_directions(name, measured, parts),
    )


def _predict(
    rows: LayerRows, effects: Sequence[Effect], train: np.ndarray, asked: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    """Return forward and backward of the points `asked`, and the spread of the sum."""
    seconds, spread = predict_rows(rows, np.tile(train, 2), np.tile(asked, 2), effects)
    parts = seconds.reshape(2, -1).T
    # What a layer's two directions are off by goes together.
    return parts, (parts * spread.reshape(2, -1).T).sum(axis=1) / parts.sum(axis=1)


def _directions(name: str, measured: FloatArray, parts: FloatArray) -> list[Row]:
    found = np.isfinite(parts[:, 0])
    return [
        Row(f"{name}_{direction}.mape", float(np.abs(error[found]).mean() * 100), "%")
        for direction, error in zip(("forward", "backward"), (parts / measured - 1).T, strict=True)
    ]
