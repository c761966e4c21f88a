"""From measured runs (the store's columns) to the columns of the physics.

Public tables say little about layout and network. What they leave out is filled by the rules
below, the same for every run, so that the learned correction sees one convention.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from advisor.predictor.frameworks import framework_codes
from advisor.predictor.hardware import (
    FUSED_ATTENTION_SINCE,
    PRECISION_ORDER,
    best_peak,
    usual_link,
)
from advisor.predictor.run_layouts import layout_columns
from advisor.predictor.run_models import TEXT, is_tuned, model_columns
from advisor.predictor.run_networks import network_bytes_per_s

# Adapters of rank 16 on all linear layers are about this share of the parameters.
LORA_SHARE: Final = 0.005
# Frozen weights need no weight gradient: the backward pass costs one forward instead of two.
FROZEN_BACKWARD_RATIO: Final = 1.0
PLAUSIBLE_PARAMS: Final = (1e2, 1e14)
PLAUSIBLE_LAYERS: Final = (1, 1e5)
PLAUSIBLE_WIDTH: Final = (0, 1e7)
PLAUSIBLE_TOKENS: Final = (1, 1e9)
PLAUSIBLE_FLOPS: Final = (1, 1e22)
PLAUSIBLE_BATCH: Final = (1e-3, 1e9)
PLAUSIBLE_ACCELERATORS: Final = (1e-3, 1e7)
PLAUSIBLE_YEARS: Final = (1990, 2100)
# FP4 has twice the peak of FP8; three quarters of the work run in it, the rest stays in FP8.
FP4_SPEED_UP: Final = 1.6
# Families that are trained by stochastic gradient descent with momentum.
MOMENTUM: Final = ("cnn", "recommender")
# Accelerators on which benchmark submissions of transformers are in FP8.
FP8_SUBMISSIONS: Final = "H100|H200|GH200|B200|B300|GB200|GB300"
FAMILY_CODES: Final = {
    name: float(code)
    for code, name in enumerate(
        ["language", "moe", "encoder", "vision", "cnn", "diffusion", "speech", "recommender",
         "other"]
    )
}  # fmt: skip
# Software stacks by how fast they run the same arithmetic; a benchmark submission is tuned by hand.
STACK_WORDS: Final = {
    "megatron": "nemo|megatron",
    "fsdp": "foundry|fsdp|titan|litgpt",
    "pytorch": "pytorch|timm",
    "mxnet": "mxnet",
    "tensorflow": "tensorflow|tf",
    "jax": "jax|maxtext",
}
STACK_CODES: Final = {
    name: float(code) for code, name in enumerate([*STACK_WORDS, "other", "tuned"])
}


def resolve_runs(profiles: pd.DataFrame, hardware: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `advisor.predictor.jobs.Jobs` for measured runs.

    Parameters
    ----------
    profiles : DataFrame
        Columns of the store.
    hardware : DataFrame
        Accelerator facts, one row per profile in the same order; NaN rows where unknown.

    Returns
    -------
    DataFrame
        One row per profile, same index, with ``reason`` saying what is missing where a row
        cannot be used (empty where it can).
    """
    out = pd.DataFrame(index=profiles.index)
    with np.errstate(all="ignore"):  # what is missing or absurd is told below, by its reason
        model_columns(out, profiles)
        _precision_columns(out, profiles, hardware)
        _hardware_columns(out, profiles, hardware)
        layout_columns(out, profiles)
        _context_columns(out, profiles)
    out["reason"] = _missing(out, profiles)
    return out


def _precision_columns(out: pd.DataFrame, profiles: pd.DataFrame, hardware: pd.DataFrame) -> None:
    wanted = _wanted_precision(profiles)
    peak = best_peak(hardware, wanted)
    out["peak_flops"] = np.where(profiles["precision"].str.lower().str.contains("fp4"),
                                 FP4_SPEED_UP * peak, peak)  # fmt: skip
    full = np.isin(wanted, ["fp32", "tf32"])
    out["bytes_per_element"] = np.where(full, 4.0, 2.0)
    frozen = profiles["parallelism"].str.contains("tuning=lora")
    out["backward_ratio"] = np.where(frozen, FROZEN_BACKWARD_RATIO, 2.0)
    out["trainable_params"] = out["params"] * np.where(frozen, LORA_SHARE, 1.0)
    out["base_bytes_per_param"] = out["bytes_per_element"]
    # Adam's two states per parameter, one of momentum where that is usual; a master copy.
    states = np.where(profiles["family"].isin(MOMENTUM), 4.0, 8.0)
    out["optimizer_bytes_per_param"] = states + np.where(full, 0.0, 4.0)
    out["precision_code"] = pd.Series(wanted, index=out.index).map(
        {name: float(i) for i, name in enumerate(PRECISION_ORDER)}
    )


def _wanted_precision(profiles: pd.DataFrame) -> np.ndarray:
    """Return the precision as stated, else what the source's users run.

    Benchmark submissions train in half precision, transformers in FP8 since Hopper (MLPerf
    v3.0, June 2023); large language models in BF16; frameworks do everything else in FP32
    unless told otherwise.
    """
    text = profiles["precision"].str.lower()
    tuned, family = is_tuned(profiles), profiles["family"]
    fp8 = tuned & family.isin(TEXT) & profiles["accelerator"].str.contains(FP8_SUBMISSIONS)
    return np.select(
        [text.str.contains("fp8|fp4"), text.str.contains("bf16"), text.str.contains("fp16"),
         text.str.contains("tf32"), text.str.contains("fp32"), fp8, tuned,
         family.isin(["language", "moe"])],
        ["fp8", "bf16", "fp16", "tf32", "fp32", "fp8", "fp16", "bf16"], default="fp32",
    )  # fmt: skip


def _hardware_columns(out: pd.DataFrame, profiles: pd.DataFrame, hardware: pd.DataFrame) -> None:
    for name in ("memory_bytes", "memory_bytes_per_s"):
        out[name] = hardware[name].to_numpy(float)
    out["hardware_year"] = hardware["year"].to_numpy(float)
    out["link_bytes_per_s"] = usual_link(hardware)
    nodes = profiles["nodes"].fillna(np.ceil(profiles["accelerators"] / 8)).clip(lower=1)
    out["devices_per_node"] = (profiles["accelerators"] / nodes).clip(lower=1)
    out["network_bytes_per_s"] = network_bytes_per_s(
        profiles["interconnect"], out["hardware_year"].to_numpy()
    )
    out["fused_attention"] = (out["hardware_year"] >= FUSED_ATTENTION_SINCE).astype(float)


def _context_columns(out: pd.DataFrame, profiles: pd.DataFrame) -> None:
    out["family_code"] = profiles["family"].map(FAMILY_CODES).astype(float)
    framework = profiles["framework"].str.lower()
    stack = np.select(
        [framework.str.contains(words) for words in STACK_WORDS.values()],
        [STACK_CODES[name] for name in STACK_WORDS],
        STACK_CODES["other"],
    )
    out["stack_code"] = np.where(is_tuned(profiles), STACK_CODES["tuned"], stack)
    # Submissions name the container that they came in, tuned are they all.
    out["framework_code"] = framework_codes(profiles["framework"].mask(is_tuned(profiles), "tuned"))
    newest = out["hardware_year"].fillna(2020) + 1
    out["year"] = profiles["year"].astype(float).fillna(newest)


def _missing(out: pd.DataFrame, profiles: pd.DataFrame) -> pd.Series:
    checks = {
        "the accelerator is unknown": out["peak_flops"].isna() | out["memory_bytes_per_s"].isna(),
        "neither FLOPs nor shape of the model are known": ~(out["forward_flops_per_sample"] > 0),
        "the global batch is not stated": ~(out["global_batch"] > 0),
        "the number of accelerators is not stated": ~(profiles["accelerators"] > 0),
        "the parameter count is absurd": ~out["params"].between(*PLAUSIBLE_PARAMS),
        "the layer count is absurd": ~out["layers"].between(*PLAUSIBLE_LAYERS),
    }
    numbers = out.replace([np.inf, -np.inf], np.nan)
    checks["a number of the run is missing or infinite"] = numbers.isna().any(axis=1)
    checks |= {
        f"the {name} is absurd": ~column.between(*limits)
        for name, column, limits in (
            ("width", out["hidden"], PLAUSIBLE_WIDTH),
            ("sample size", out["tokens_per_sample"], PLAUSIBLE_TOKENS),
            ("work per sample", out["forward_flops_per_sample"], PLAUSIBLE_FLOPS),
            ("global batch", out["global_batch"], PLAUSIBLE_BATCH),
            ("number of accelerators", profiles["accelerators"], PLAUSIBLE_ACCELERATORS),
            ("number of accelerators per machine", out["devices_per_node"], PLAUSIBLE_ACCELERATORS),
            ("year", out["year"], PLAUSIBLE_YEARS),
        )
    }
    reason = pd.Series("", index=out.index)
    for text, failed in checks.items():
        reason = reason.mask((reason == "") & failed, text)
    return reason
