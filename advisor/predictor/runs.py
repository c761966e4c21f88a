"""From measured runs (the store's columns) to the columns of the physics.

Public tables say little about layout and network. What they leave out is filled by the rules
below, the same for every run, so that the learned correction sees one convention.
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import pandas as pd

from advisor.core.paths import TABLES_DIR
from advisor.predictor.hardware import (
    FUSED_ATTENTION_SINCE,
    PRECISION_ORDER,
    best_peak,
    usual_link,
)
from advisor.predictor.run_layouts import layout_columns
from advisor.predictor.run_networks import network_bytes_per_s
from advisor.predictor.shapes import fill_language_shapes

# Elements kept per multiply-add where a network's activations are not published: the fit over
# 880 image networks of the timm benchmark, elements = 4.4e6 · (MACs / 1e9) ** 0.62.
ACTIVATION_COEFFICIENT: Final = 4.4e6
ACTIVATION_EXPONENT: Final = 0.62
# Convolutions keep their input, the normalised and the activated output.
KEPT_PER_CONVOLUTION_OUTPUT: Final = 3.0
# Adapters of rank 16 on all linear layers are about this share of the parameters.
LORA_SHARE: Final = 0.005
# Frozen weights need no weight gradient: the backward pass costs one forward instead of two.
FROZEN_BACKWARD_RATIO: Final = 1.0
PLAUSIBLE_PARAMS: Final = (1e2, 1e14)
PLAUSIBLE_LAYERS: Final = (1, 1e5)
# FP4 has twice the peak of FP8; three quarters of the work run in it, the rest stays in FP8.
FP4_SPEED_UP: Final = 1.6
TEXT: Final = ("language", "moe", "encoder")
# Accelerators on which benchmark submissions of transformers are in FP8.
FP8_SUBMISSIONS: Final = "H100|H200|GH200|B200|B300|GB200|GB300"
# MLPerf's BERT trains unpadded: sequences fill about half of their positions.
BERT_POSITIONS: Final = 512
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
    _model_columns(out, profiles)
    _precision_columns(out, profiles, hardware)
    _hardware_columns(out, profiles, hardware)
    layout_columns(out, profiles)
    _context_columns(out, profiles)
    out["reason"] = _missing(out, profiles)
    return out


@functools.lru_cache(maxsize=1)
def model_facts() -> pd.DataFrame:
    """Published shapes and FLOPs of the networks in the store, by the store's label."""
    tables = sorted((TABLES_DIR / "profiles").glob("model_facts*.csv"))
    return pd.concat([pd.read_csv(table) for table in tables]).set_index("model")


def _model_columns(out: pd.DataFrame, profiles: pd.DataFrame) -> None:
    facts = model_facts().reindex(profiles["model"])
    facts.index = profiles.index
    params = profiles["params"].fillna(facts["params"])
    size = profiles["sample_size"].fillna(facts["reference_size"])
    unpadded = _is_tuned(profiles) & (profiles["model"] == "BERT-large")
    size = size.mask(unpadded & (size == BERT_POSITIONS), size / 2)
    layers = profiles["layers"].fillna(facts["layers"])
    hidden = profiles["hidden"].fillna(facts["hidden"])
    is_text = profiles["family"].isin(TEXT)
    shapes = fill_language_shapes(
        params=params, layers=layers, hidden=hidden, vocab=facts["vocab"], tokens=size,
        kv_share=facts["kv_heads"] / facts["heads"], active_params=facts["active_params"],
    )  # fmt: skip
    use_shape = is_text & shapes["forward_flops_per_sample"].notna() & facts["forward_gmacs"].isna()
    scale = (size / facts["reference_size"]).pow(2).where(facts["reference_size"] > 0, 1.0)
    stated = profiles["forward_flops_per_sample"].fillna(facts["forward_gmacs"] * 2e9 * scale)
    for name in shapes:
        out[name] = shapes[name].where(use_shape)
    flops = stated.where(~use_shape, shapes["forward_flops_per_sample"])
    out["forward_flops_per_sample"] = flops
    out["params"] = shapes["params"].where(use_shape, params.fillna(flops / 2e3))
    out["active_params"] = out["active_params"].fillna(out["params"])
    out["layers"] = out["layers"].fillna(_depth_guess(flops))
    out["tokens_per_sample"] = out["tokens_per_sample"].fillna(1.0)
    outputs = (facts["activation_melements"] * 1e6 * scale).fillna(
        ACTIVATION_COEFFICIENT * (flops / 2e9) ** ACTIVATION_EXPONENT
    )
    kept = outputs * KEPT_PER_CONVOLUTION_OUTPUT
    out["activation_elements_per_sample"] = out["activation_elements_per_sample"].fillna(kept)
    out["boundary_elements_per_sample"] = out["boundary_elements_per_sample"].fillna(kept / 16)
    zeros = ["embedding_params", "hidden", "vocab", "attention_flops_per_sample",
             "attention_elements_per_sample"]  # fmt: skip
    out[zeros] = out[zeros].fillna(0.0)
    out["is_transformer"] = use_shape.astype(float)
    out["is_causal"] = profiles["family"].isin(["language", "moe"]).astype(float)


def _depth_guess(flops: pd.Series) -> pd.Series:
    """Return layers of a network known only by its FLOPs: 13 at 0.05, 47 at 4, 85 at 30 GMACs."""
    return (25.0 * (flops / 1e9) ** 0.3).clip(5, 300)


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
    out["optimizer_bytes_per_param"] = np.where(full, 8.0, 12.0)
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
    tuned, family = _is_tuned(profiles), profiles["family"]
    fp8 = tuned & family.isin(TEXT) & profiles["accelerator"].str.contains(FP8_SUBMISSIONS)
    return np.select(
        [text.str.contains("fp8|fp4"), text.str.contains("bf16"), text.str.contains("fp16"),
         text.str.contains("tf32"), text.str.contains("fp32"), fp8, tuned,
         family.isin(["language", "moe"])],
        ["fp8", "bf16", "fp16", "tf32", "fp32", "fp8", "fp16", "bf16"], default="fp32",
    )  # fmt: skip


def _is_tuned(profiles: pd.DataFrame) -> pd.Series:
    """Return which runs are benchmark submissions, tuned by hand."""
    return profiles["source"].str.startswith("mlperf")


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
    out["stack_code"] = np.where(_is_tuned(profiles), STACK_CODES["tuned"], stack)
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
    reason = pd.Series("", index=out.index)
    for text, failed in checks.items():
        reason = reason.mask((reason == "") & failed, text)
    return reason
