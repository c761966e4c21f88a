"""NeuSight's leaderboard: one iteration of whole networks in FP32, one GPU type held out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from benchmarks.boards.cephalo import FILE as LAYERS_FILE
from benchmarks.boards.cephalo_rows import layer_rows, read_layers
from benchmarks.boards.nested_spread import calibration, leave_each_out_scaled
from benchmarks.boards.neusight_model import predict_rows
from benchmarks.boards.neusight_rows import chip_of, read_rows
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Context

FILE: Final = "data/boards/neusight_summary.csv"
BAR: Final = 9.0
PEERS: Final = ("neusight", "roofline", "habitat", "li")
KEY: Final = ["model", "seq_len", "batch", "gpu", "mode", "option"]
SUBSETS: Final = {"neusight": "train", "neusight_inference": "inf"}
QUICK_GPUS: Final = 3


@BOARDS.register("neusight")
def neusight(context: Context) -> Iterator[Scored]:
    """Training runs, with inference beside them."""
    raw = pd.read_csv(context.reference / FILE)
    rows = read_rows(raw, context.catalog)
    rates = layer_rates(read_layers(context.reference / LAYERS_FILE), context.catalog)
    yield from board(rows, rates, quick=context.quick)


@ROWS_BOARDS.register("neusight")
def neusight_rows(context: Context, raw: pd.DataFrame) -> Iterator[Scored]:
    """Rows of the user's, with all of the board and the rates of layers as training."""
    own = read_rows(pd.read_csv(context.reference / FILE), context.catalog)
    rates = layer_rates(read_layers(context.reference / LAYERS_FILE), context.catalog)
    yield from score_rows(own, rates, read_rows(raw, context.catalog))


def layer_rates(points: pd.DataFrame, catalog: Catalog) -> pd.DataFrame:
    """Return what devices keep up on layers of Llama in FP32, one row per device."""
    few = points[(points["precision"] == "float32") & (points["family"] == "llama")]
    rows = layer_rows(few, catalog)
    work = rows.work.dense_flops + rows.work.attention_flops
    forward = rows.frame.assign(rate_flops=work / rows.seconds())[~rows.frame["backward"]]
    rate = forward.groupby("gpu")["rate_flops"].median()
    found = forward.groupby("gpu").first().assign(rate_flops=rate, amd=0.0)
    device = found["accelerator"]
    return found.assign(device=device, chip=device.map(chip_of)).reset_index()


def board(rows: pd.DataFrame, rates: pd.DataFrame, *, quick: bool = False) -> Iterator[Scored]:
    """Score training and inference, one GPU type held out; and boards of one chip together."""
    usable = rows[rows["usable"]].reset_index(drop=True)
    for level in ("gpu", "chip"):
        held = _held_out(usable, rates, level, quick=quick)
        for name, mode in SUBSETS.items():
            here = (usable["mode"] == mode).to_numpy() & np.isfinite(held.predicted)
            if not here.any():
                continue
            whole = level == "gpu"
            yield Scored(
                name=name if whole else f"{name}_chip",
                title="One iteration of language models in FP32",
                held_out="a GPU type" if whole else "all GPU types of one chip",
                runs_of="public runs of NeuSight",
                held=_take(held, here),
                bars={"mape": BAR} if whole and mode == "train" else {},
                beside=_beside(name, rows, usable[here], held.predicted[here]) if whole else (),
            )


def _held_out(usable: pd.DataFrame, rates: pd.DataFrame, level: str, *, quick: bool) -> HeldOut:
    labels = usable[level].to_numpy(str)
    measured = usable["measured_ms"].to_numpy(float) / 1e3
    predict = partial(_predict, usable, rates, "device" if level == "gpu" else "chip")
    names = np.unique(labels)[:QUICK_GPUS] if quick else np.unique(labels)
    held, _ = leave_each_out_scaled(measured, labels, predict, names)
    asked = np.isin(labels, names)
    predicted, sigma = np.full((2, len(labels)), np.nan)
    predicted[asked], sigma[asked] = held.predicted, held.log_sigma
    return HeldOut(measured, predicted, sigma)


def _predict(
    rows: pd.DataFrame, rates: pd.DataFrame, same: str, train: np.ndarray, asked: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    """Predict from the rows of `train`; no rate of a device that is left out is known either."""
    others = rates[~rates[same].isin(rows.loc[~train, same])]
    seconds, spread = predict_rows(rows[train], others, rows[asked])
    return seconds[:, None], spread


def _take(held: HeldOut, here: np.ndarray) -> HeldOut:
    sigma = None if held.log_sigma is None else held.log_sigma[here]
    return HeldOut(held.measured[here], held.predicted[here], sigma)


def score_rows(own: pd.DataFrame, rates: pd.DataFrame, asked: pd.DataFrame) -> Iterator[Scored]:
    """Score rows of the user's; where one of them is the board's own, its GPU is left out."""
    own = own[own["usable"]].reset_index(drop=True)
    usable = asked[asked["usable"]].reset_index(drop=True)
    measured, labels = own["measured_ms"].to_numpy(float) / 1e3, own["gpu"].to_numpy(str)
    factor = calibration(
        measured, labels, partial(_predict, own, rates, "device"), np.ones(len(own), bool)
    )
    known = set(own[KEY].itertuples(index=False, name=None))
    copied = np.array([key in known for key in usable[KEY].itertuples(index=False, name=None)])
    predicted, sigma = np.empty(len(usable)), np.empty(len(usable))
    for gpu in usable["gpu"].unique():
        here = (usable["gpu"] == gpu).to_numpy()
        train = (own["gpu"] != gpu).to_numpy() if copied[here].any() else np.ones(len(own), bool)
        others = rates[~rates["device"].isin(own.loc[~train, "device"])]
        predicted[here], sigma[here] = predict_rows(own[train], others, usable[here])
    refused = len(asked) - len(usable)
    for name, mode in SUBSETS.items():
        here = (usable["mode"] == mode).to_numpy()
        first = name == "neusight"
        if not here.any() and not first:
            continue
        held = HeldOut(usable.loc[here, "measured_ms"].to_numpy(float) / 1e3, predicted[here],
                       factor * sigma[here])  # fmt: skip
        yield Scored(
            name=name,
            title="One iteration of language models in FP32",
            held_out="rows of the user's",
            runs_of="the file",
            held=held if here.any() else None,
            bars={"mape": BAR} if first else {},
            beside=[Row(f"{name}.n_refused", float(refused), "rows")] if first else (),
        )


def _beside(
    name: str, rows: pd.DataFrame, scored: pd.DataFrame, predicted: FloatArray
) -> list[Row]:
    """Return what peers reach, from the columns of the file, on all rows and on the common ones."""
    measured = scored["measured_ms"].to_numpy(float)
    error = pd.DataFrame({peer: scored[f"{peer}_ms"] / measured - 1 for peer in PEERS}).abs() * 100
    common = error.notna().all(axis=1).to_numpy()
    ours = np.abs(predicted * 1e3 / measured - 1) * 100
    found = [
        Row(f"{name}.n_refused", float((~rows["usable"]).sum()), "rows"),
        Row(f"{name}_common.n", float(common.sum()), "rows"),
        Row(f"peer.neusight.{name}.mape", float(error["neusight"].mean()), "%"),
    ]
    if not common.any():
        return found
    found.append(Row(f"{name}_common.mape", float(ours[common].mean()), "%"))
    for peer in PEERS:
        own = error.loc[common, peer]
        found += [
            Row(f"peer.{peer}.{name}_common.mape", float(own.mean()), "%"),
            Row(f"peer.{peer}.{name}_common.median_ape", float(own.median()), "%"),
        ]
    return found
