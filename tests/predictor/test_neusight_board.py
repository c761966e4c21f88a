"""The board of whole networks on runs of our own making."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.catalog import load
from benchmarks.boards.neusight import board, layer_rates, score_rows
from benchmarks.boards.neusight_model import EXPECTED, Table, predict_rows
from benchmarks.boards.neusight_rows import network, read_rows

CATALOG = load()
USUAL = {name: value for name, (value, _) in EXPECTED.items()}
GPUS = ("Tesla_T4", "Tesla_V100-PCIE-32GB", "NVIDIA_A100-PCIE-40GB", "AMD_Instinct_MI210",
        "NVIDIA_H100_80GB_HBM3")  # fmt: skip
MODELS = {"gpt2_large": 1024, "bert_large": 512, "opt_13": 2048}
PEERS = ("neusight", "roofline", "habitat", "li")


def request(gpu: str, model: str = "gpt2_large", option: str = "", mode: str = "train",
            seq_len: int = 1024, batch: float = 4) -> dict[str, object]:  # fmt: skip
    return {"model": model, "seq_len": seq_len, "batch": batch, "gpu": gpu, "mode": mode,
            "option": option, "measured_ms": 100.0}  # fmt: skip


def times(rows: pd.DataFrame) -> np.ndarray:
    return Table.of(rows).seconds(USUAL)


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """Runs that take what the formula says with constants of ours, up to two per cent."""
    asked = [
        request(gpu, model, mode=mode, seq_len=tokens, batch=batch)
        for gpu in GPUS
        for model, tokens in MODELS.items()
        for mode in ("train", "inf")
        for batch in (1, 4)
    ]
    rows = read_rows(pd.DataFrame(asked), CATALOG)
    truth = {**USUAL, "elements": 1.0, "layer": 3e-4, "share": 0.9}
    noise = np.exp(np.random.default_rng(0).normal(0, 0.02, len(rows)))
    rows["measured_ms"] = Table.of(rows).seconds(truth) * 1e3 * noise
    for peer in PEERS:
        rows[f"{peer}_ms"] = 1.2 * rows["measured_ms"]
    return rows


@pytest.fixture(scope="module")
def rates() -> pd.DataFrame:
    """Rates of layers on two devices."""
    points = pd.DataFrame(
        {
            "network": "llama_7b",
            "family": "llama",
            "model": "llama_7b",
            "gpu": ["a100x40", "l40s"],
            "seq_len": 512,
            "precision": "float32",
            "hidden_size": 4096,
            "params_per_layer": 202_383_360,
            "batch": 8,
            "fwd_ms_per_layer": [93.0, 54.6],
            "bwd_ms_per_layer": [187.7, 89.4],
        }
    )
    return layer_rates(points, CATALOG)


def test_networks_have_the_published_sizes() -> None:
    gpt3 = network("gpt3_175", 2048)
    opt = network("opt_13", 2048)
    switch = network("switchxl4", 512)
    assert gpt3 is not None
    assert gpt3.params == pytest.approx(175e9, rel=0.01)
    assert opt is not None
    assert opt.params == pytest.approx(1.3157e9, rel=0.001)
    assert switch is not None
    assert switch.layers == 48


def test_what_is_not_known_is_not_usable() -> None:
    asked = [
        request("NVIDIA_L4"),
        request("NVIDIA_L4", model="nonsense"),
        request("Voodoo2"),
        request("NVIDIA_L4", option="ep3"),
        request("NVIDIA_L4", option="dp0"),
        request("NVIDIA_L4", seq_len=4096),
        request("NVIDIA_L4", mode="dream"),
        request("NVIDIA_L4", batch=-1),
    ]
    rows = read_rows(pd.DataFrame(asked), CATALOG)
    assert rows["usable"].tolist() == [True] + [False] * 7


def test_a_die_of_two_is_half_the_board_and_matrix_cores_count() -> None:
    rows = read_rows(
        pd.DataFrame([request("AMD_Instinct_MI210"), request("AMD_Instinct_MI250")]), CATALOG
    )
    assert rows["peak_flops"].to_numpy() == pytest.approx([45.3e12, 45.3e12], rel=0.01)
    assert rows["chip"].tolist() == ["MI200", "MI200"]


def test_training_takes_three_forward_passes_and_an_optimizer() -> None:
    gpu = "NVIDIA_H100_80GB_HBM3"
    train, forward = times(
        read_rows(pd.DataFrame([request(gpu), request(gpu, mode="inf")]), CATALOG)
    )
    assert 3 < train / forward < 3.3


def test_devices_share_the_work_by_option() -> None:
    gpu = "NVIDIA_H100_80GB_HBM3"
    options = ("", "dp4", "tp4", "pp4_1", "pp4_4")
    one, data, tensor, fill, filled = times(
        read_rows(pd.DataFrame([request(gpu, option=option) for option in options]), CATALOG)
    )
    assert one / 4 < data < one / 2
    assert one / 4 < tensor < one / 2
    assert fill == pytest.approx(one)
    assert one / 4 < filled < fill


def test_fused_kernels_save_traffic() -> None:
    plain, fused = times(
        read_rows(
            pd.DataFrame([request("NVIDIA_L4"), request("NVIDIA_L4", option="fusion")]), CATALOG
        )
    )
    assert fused < plain


def test_a_gpu_that_was_held_out_is_predicted(runs: pd.DataFrame, rates: pd.DataFrame) -> None:
    scored = {one.name: one for one in board(runs, rates)}
    assert set(scored) == {"neusight", "neusight_inference", "neusight_chip",
                           "neusight_inference_chip"}  # fmt: skip
    figures = {row.name: row for row in scored["neusight"].rows()}
    assert figures["neusight.mape"].holds
    assert figures["neusight.n"].value == len(runs) / 2
    assert figures["neusight.n_refused"].value == 0
    assert figures["peer.li.neusight_common.mape"].value == pytest.approx(20.0)


def test_predictions_of_peers_are_no_input(runs: pd.DataFrame, rates: pd.DataFrame) -> None:
    train, asked = runs[runs["gpu"] != "Tesla_T4"], runs[runs["gpu"] == "Tesla_T4"]
    before, _ = predict_rows(train, rates, asked)
    blind = [column for column in runs if str(column).removesuffix("_ms") in PEERS]
    after, _ = predict_rows(train.drop(columns=blind), rates, asked.drop(columns=blind))
    assert after == pytest.approx(before)


def test_rows_of_the_users_are_scored_or_counted_as_refused(
    runs: pd.DataFrame, rates: pd.DataFrame
) -> None:
    asked = read_rows(
        pd.DataFrame([request("NVIDIA_L4"), request("A10G", mode="inf"), request("Voodoo2")]),
        CATALOG,
    )
    rows = {row.name: row for scored in score_rows(runs, rates, asked) for row in scored.rows()}
    assert rows["neusight.n"].value == 1
    assert rows["neusight_inference.n"].value == 1
    assert rows["neusight.n_refused"].value == 1


def test_the_boards_own_rows_are_not_looked_up(runs: pd.DataFrame, rates: pd.DataFrame) -> None:
    own = runs[(runs["gpu"] == "Tesla_T4") & (runs["mode"] == "train")]
    slower = runs.assign(measured_ms=runs["measured_ms"].where(runs["gpu"] != "Tesla_T4", 1e6))
    first, *_ = score_rows(runs, rates, own)
    again, *_ = score_rows(slower, rates, own)
    assert first.held is not None
    assert again.held is not None
    assert again.held.predicted == pytest.approx(first.held.predicted)


def test_a_file_without_a_usable_row_gives_no_error(
    runs: pd.DataFrame, rates: pd.DataFrame
) -> None:
    asked = read_rows(pd.DataFrame([request("Voodoo2")]), CATALOG)
    rows = {row.name: row for scored in score_rows(runs, rates, asked) for row in scored.rows()}
    assert rows["neusight.n_refused"].value == 1
