"""The boards of layer profiles on profiles of our own making."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.catalog import load
from benchmarks.boards.cephalo import board
from benchmarks.boards.cephalo_rows import layer_rows, read_layers
from benchmarks.boards.nested_spread import leave_each_out_scaled

NETWORKS = {
    "deepspeedllama_7b": (4096, 202_383_360),
    "deepspeedllamav2_7b": (4096, 202_383_360),
    "deepspeedllama_tiny": (2048, 51_384_320),
    "deepspeedbert_base": (None, None),
}
GPUS = {"a100x40": 18e12, "v100x16": 13e12, "t4": 4.5e12}


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Layers whose forward pass is a pure share of arithmetic, and backward twice that."""
    rows = []
    for model, (hidden, weights) in NETWORKS.items():
        for gpu, rate in GPUS.items():
            for batch in (1, 2, 4, 8):
                flops = 2 * batch * 512 * (weights or 12 * 768**2)
                forward = flops / rate * 1e3 + 0.1
                rows.append([model, gpu, 512, "float32", hidden, weights, batch, forward,
                             2 * forward])  # fmt: skip
    path = tmp_path_factory.mktemp("profiles") / "layers.csv"
    columns = ["model", "gpu", "seq_len", "precision", "hidden_size", "params_per_layer", "batch",
               "fwd_ms_per_layer", "bwd_ms_per_layer"]  # fmt: skip
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return read_layers(path)


def test_two_implementations_of_a_network_are_one_group(points: pd.DataFrame) -> None:
    assert set(points["network"]) == {"llama_7b", "llama_tiny", "bert_base"}
    assert set(points["family"]) == {"llama", "bert"}


def test_shapes_that_the_file_leaves_open_are_known(points: pd.DataFrame) -> None:
    assert points["hidden_size"].notna().all()
    assert points.loc[points["network"] == "bert_base", "hidden_size"].eq(768).all()


def test_every_point_has_a_forward_and_a_backward_row(points: pd.DataFrame) -> None:
    rows = layer_rows(points, load())
    seconds = rows.seconds().reshape(2, -1)
    assert seconds[1] == pytest.approx(2 * seconds[0])
    assert (rows.work.dense_flops > 0).all()


@pytest.mark.parametrize(("held_out", "bar"), [("network", 15.0), ("gpu", 40.0)])
def test_a_layer_is_predicted_from_other_networks_or_other_gpus(
    points: pd.DataFrame, held_out: str, bar: float
) -> None:
    scored = board("layers", points, load(), held_out, bar, quick=False)
    figures = {row.name: row for row in scored.rows()}
    assert figures["layers.mape"].holds
    assert figures["layers.n"].value == len(points)
    assert 0 < figures["layers.coverage_90"].value <= 1
    assert figures["layers_forward.mape"].value < bar


def test_a_group_held_out_reaches_neither_its_prediction_nor_its_spread() -> None:
    measured = np.array([1.0, 1.1, 1.0, 1.2, 1.1, 0.9])
    labels = np.array(["a", "a", "b", "b", "c", "c"])

    def mean(train: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = int(asked.sum())
        return np.full((size, 1), measured[train].mean()), np.full(size, 0.1)

    before, _ = leave_each_out_scaled(measured, labels, mean, np.array(["a"]))
    measured[:2] *= 50
    after, _ = leave_each_out_scaled(measured, labels, mean, np.array(["a"]))
    assert after.predicted == pytest.approx(before.predicted)
    assert after.log_sigma == pytest.approx(before.log_sigma)
