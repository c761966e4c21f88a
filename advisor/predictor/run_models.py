"""The network of a measured run: its work and its shape, from whatever the source says of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.errors import AdvisorError
from advisor.predictor.model_facts import facts_of_models
from advisor.predictor.shapes import fill_language_shapes, network_columns
from advisor.zoo.lookup import find

if TYPE_CHECKING:
    from advisor.domain import Model

TEXT: Final = ("language", "moe", "encoder")
# Elements kept per multiply-add where a network's activations are not published: the fit over
# 880 image networks of the timm benchmark, elements = 4.4e6 · (MACs / 1e9) ** 0.62.
ACTIVATION_COEFFICIENT: Final = 4.4e6
ACTIVATION_EXPONENT: Final = 0.62
# Convolutions keep their output and the normalised one: 1.9 on the median of the 46 networks
# that both the tables of facts and the zoo know.
KEPT_PER_CONVOLUTION_OUTPUT: Final = 1.9
# MLPerf's BERT trains unpadded: sequences fill about half of their positions.
BERT_POSITIONS: Final = 512
# A network of the zoo is the source's if their FLOPs agree this well (in the logarithm).
SAME_FLOPS: Final = 0.1


def is_tuned(profiles: pd.DataFrame) -> pd.Series:
    """Return which runs are benchmark submissions, tuned by hand."""
    return profiles["source"].str.startswith("mlperf")


def model_columns(out: pd.DataFrame, profiles: pd.DataFrame) -> None:
    """Add the columns of `advisor.predictor.jobs.Jobs` that describe the network to `out`."""
    facts = facts_of_models(profiles["model"])
    size = profiles["sample_size"].fillna(facts["reference_size"])
    unpadded = is_tuned(profiles) & (profiles["model"] == "BERT-large")
    size = size.mask(unpadded & (size == BERT_POSITIONS), size / 2)
    params = profiles["params"].fillna(facts["params"])
    shapes = fill_language_shapes(
        params=params, layers=profiles["layers"].fillna(facts["layers"]),
        hidden=profiles["hidden"].fillna(facts["hidden"]), vocab=facts["vocab"], tokens=size,
        kv_share=facts["kv_heads"] / facts["heads"], active_params=facts["active_params"],
    )  # fmt: skip
    use_shape = (
        profiles["family"].isin(TEXT)
        & shapes["forward_flops_per_sample"].notna()
        & facts["forward_gmacs"].isna()
    )
    for name, column in shapes.items():
        out[name] = column.where(use_shape)
    out["is_transformer"] = use_shape.astype(float)
    out["is_causal"] = profiles["family"].isin(["language", "moe"]).astype(float)
    scale = (size / facts["reference_size"]).pow(2).where(facts["reference_size"] > 0, 1.0)
    stated = profiles["forward_flops_per_sample"].fillna(facts["forward_gmacs"] * 2e9 * scale)
    depth = profiles["layers"].fillna(facts["layers"])
    outputs = facts["activation_melements"] * scale
    _image_columns(out, stated.where(~use_shape), params, depth, outputs)
    _zoo_columns(out, profiles["model"].where(~profiles["family"].isin(TEXT)), size, scale)


def _image_columns(
    out: pd.DataFrame,
    flops: pd.Series,
    params: pd.Series,
    depth: pd.Series,
    outputs_mega: pd.Series,
) -> None:
    """Fill the columns of networks that are known by their FLOPs [per sample]."""
    out["forward_flops_per_sample"] = out["forward_flops_per_sample"].fillna(flops)
    out["params"] = out["params"].fillna(params).fillna(flops / 2e3)
    out["active_params"] = out["active_params"].fillna(out["params"])
    out["layers"] = out["layers"].fillna(depth).fillna(_depth_guess(flops))
    out["tokens_per_sample"] = out["tokens_per_sample"].fillna(1.0)
    usual = ACTIVATION_COEFFICIENT * (flops / 2e9) ** ACTIVATION_EXPONENT
    kept = (outputs_mega * 1e6).fillna(usual) * KEPT_PER_CONVOLUTION_OUTPUT
    out["activation_elements_per_sample"] = out["activation_elements_per_sample"].fillna(kept)
    out["boundary_elements_per_sample"] = out["boundary_elements_per_sample"].fillna(kept / 16)
    zeros = ["embedding_params", "hidden", "vocab", "attention_flops_per_sample",
             "attention_elements_per_sample"]  # fmt: skip
    out[zeros] = out[zeros].fillna(0.0)


def _zoo_columns(out: pd.DataFrame, models: pd.Series, size: pd.Series, scale: pd.Series) -> None:
    """Replace what was filled by what the zoo counts, as it does for the user's own workload.

    Only where the zoo's network is the source's: one name may mean several (ResNet-18 for
    ImageNet, or with the small stem for CIFAR), their FLOPs do not agree.
    """
    found = out["forward_flops_per_sample"].to_numpy(float) / scale.to_numpy(float)
    asked = pd.DataFrame({"model": models, "size": size, "reference": size / scale**0.5})
    asked = asked.reset_index(drop=True).dropna()
    networks: dict[int, dict[str, float]] = {}
    for (label, side, reference), alike in asked.groupby(["model", "size", "reference"]):
        known, whole = zoo_model(label, side), zoo_model(label, reference)
        if known is None or whole is None:
            continue
        # Every run for itself: what another source states of the label says nothing of this one.
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.abs(np.log(whole.forward_flops_per_sample / found[alike.index]))
        same = alike.index[off < SAME_FLOPS]
        networks |= dict.fromkeys(same.tolist(), network_columns(known))
    rows = np.array(list(networks), dtype=int)
    for name in next(iter(networks.values()), {}):
        column = out[name].to_numpy(float, copy=True)
        column[rows] = [columns[name] for columns in networks.values()]
        out[name] = column


@functools.lru_cache(maxsize=4096)
def zoo_model(label: str, size: float) -> Model | None:
    """Return the zoo's network of a label at an image side, None where it has none."""
    architecture = find(label)
    if architecture is None or not np.isfinite(size):
        return None
    try:
        return architecture.model(round(size))
    except AdvisorError:  # too small an image for the network
        return None


def _depth_guess(flops: pd.Series) -> pd.Series:
    """Return layers of a network known only by its FLOPs: 13 at 0.05, 47 at 4, 85 at 30 GMACs."""
    return (25.0 * (flops / 1e9) ** 0.3).clip(5, 300)
