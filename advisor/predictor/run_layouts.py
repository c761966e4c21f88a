"""The layout of a measured run: as its source writes it, else what a sensible user would do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from advisor.domain import Profile

DEGREES: Final = {
    "dp": "data_parallel", "tp": "tensor_parallel", "pp": "pipeline_parallel",
    "zero": "zero_stage",
}  # fmt: skip


def stated_degrees(run: Profile) -> dict[str, float]:
    """Return the layout columns of `advisor.predictor.jobs.Jobs` that one run states."""
    text = run.parallelism.lower()
    found = {
        column: float(stated[1])
        for key, column in DEGREES.items()
        if (stated := re.search(_stated(key), text))
    }
    if "full_shard" in text:
        found["zero_stage"] = 3.0
    if "act_ckpt=true" in text:
        found["recompute_share"] = 1.0
    if run.micro_batch is not None:
        found["micro_batch"] = run.micro_batch
    return found


def layout_columns(out: pd.DataFrame, profiles: pd.DataFrame) -> None:
    """Add the layout columns of `advisor.predictor.jobs.Jobs` to `out`."""
    text = profiles["parallelism"].str.lower()
    _degrees(out, profiles["accelerators"].clip(lower=1), text)
    _sharding(out, text)
    _batches(out, profiles, text)
    out["recompute_share"] = text.str.contains("act_ckpt=true").astype(float)


def _degrees(out: pd.DataFrame, devices: pd.Series, text: pd.Series) -> None:
    tensor, pipeline = _degree(text, "tp"), _degree(text, "pp")
    stated = tensor.notna() | pipeline.notna() | text.str.contains("fsdp|zero|async|optimizer")
    guessed_tensor, guessed_pipeline = _smallest_that_fits(out, devices)
    guess = (out["is_transformer"] > 0) & ~stated
    tensor = tensor.fillna(guessed_tensor.where(guess, 1.0)).clip(upper=devices)
    pipeline = pipeline.fillna(guessed_pipeline.where(guess, 1.0)).clip(upper=devices / tensor)
    out["tensor_parallel"], out["pipeline_parallel"] = tensor, pipeline
    out["data_parallel"] = (devices / (tensor * pipeline)).clip(lower=1)


def _sharding(out: pd.DataFrame, text: pd.Series) -> None:
    servers = _degree(text, "ps").where(text.str.contains("async"))
    out["parameter_servers"] = servers.fillna(0.0)
    gradients_only = text.str.contains("shard_grad_op")
    # A number after FSDP is the devices it spans; 0 is none.
    spans = _degree(text, "fsdp")
    everything = text.str.contains("full_shard") | (spans > 0)
    everything |= text.str.contains("fsdp") & spans.isna() & ~gradients_only
    usual = np.select([everything, gradients_only], [3.0, 2.0],
                      (out["is_transformer"] > 0).to_numpy(float))  # fmt: skip
    stage = _degree(text, "zero").fillna(pd.Series(usual, index=out.index))
    out["zero_stage"] = stage.clip(upper=3.0)


def _batches(out: pd.DataFrame, profiles: pd.DataFrame, text: pd.Series) -> None:
    batch = profiles["global_batch"]
    context = _degree(text, "cp").fillna(1.0)
    # An asynchronous worker steps alone: its batch is the step's batch.
    replicas = out["data_parallel"].where(out["parameter_servers"] == 0, 1.0) / context
    most = batch / replicas
    transformer = out["is_transformer"] > 0
    sharded = out["tensor_parallel"] * out["pipeline_parallel"] > 1
    few = pd.Series(np.where(sharded, 1.0, 8.0), index=out.index)
    usual = most.where(~transformer | (most < few), few)
    stated = profiles["micro_batch"].where(transformer & (profiles["micro_batch"] > 0))
    micro = stated.fillna(usual)
    micro = micro.where(micro < most, most).clip(lower=1e-3)
    out["accumulation"] = (most / micro).clip(lower=1.0)
    # Context parallelism deals the tokens of a sample to so many devices.
    out["micro_batch"] = micro / context
    out["global_batch"] = batch


def _degree(text: pd.Series, key: str) -> pd.Series:
    return text.str.extract(_stated(key))[0].astype(float)


def _stated(key: str) -> str:
    return rf"(?:^|[;,\s]){key}=(\d+)"


def _smallest_that_fits(out: pd.DataFrame, devices: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the tensor and pipeline degrees a sensible user needs for the states to fit."""
    need = out["params"] * 6.0 / (0.5 * out["memory_bytes"])
    exponent = np.ceil(np.log2(need.clip(lower=1.0).fillna(1.0).to_numpy()))
    ways = pd.Series(np.exp2(exponent), index=out.index)
    inside = ways.where(ways < out["devices_per_node"], out["devices_per_node"])
    tensor = inside.where(inside < devices, devices).clip(lower=1.0)
    tensor = pd.Series(np.exp2(np.floor(np.log2(tensor.to_numpy()))), index=out.index)
    pipeline = (ways / tensor).clip(lower=1.0)
    return tensor, pipeline
