"""Cephalo's layer profiles: milliseconds forward and backward, with the work of every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.predictor.hardware import facts_of
from advisor.predictor.layer_time import LayerWork, layer_work

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray

CATALOG_NAMES: Final = {
    "a100x40": "A100-40GB", "a100x80": "A100-80GB", "a10g": "A10G", "a6000": "RTX-A6000",
    "h100-nvl": "H100-NVL", "l4": "L4", "l40s": "L40S", "p100": "P100-PCIe-16GB", "p40": "P40",
    "t4": "T4", "v100-pciex16": "V100-PCIe-16GB", "v100x16": "V100-16GB",
}  # fmt: skip
# The A10G of AWS G5 reports a limit of 300 W; the catalog has the figure of the A10.
POWER_W: Final = {"A10G": 300.0}
# Width and parameters of a layer that the file leaves open, by the published configurations.
SHAPES: Final = {
    "bert_base": (768.0, 12 * 768.0**2),
    "mistral_7b": (4096.0, 2 * 4096.0**2 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336),
    "vit_e": (1792.0, 4 * 1792.0**2 + 2 * 1792.0 * 15360),
}
HEADS: Final = {"vit_e": 16.0, "vit_g": 16.0, "llama_3b": 32.0, "gpt_2.7b": 32.0}
HEAD_DIM: Final = {"bert": 64.0, "gpt": 64.0, "llama": 128.0, "mistral": 128.0, "vit": 112.0}
# Before Volta the arithmetic in FP16 is that in FP32.
TENSOR_CORES_SINCE: Final = 2017


@dataclass(frozen=True)
class LayerRows:
    """Forward and backward passes of layers, one row each, with their work and device."""

    frame: pd.DataFrame
    work: LayerWork

    def seconds(self) -> FloatArray:
        """Measured times [s]."""
        return self.frame["seconds"].to_numpy(float)


def read_layers(path: Path) -> pd.DataFrame:
    """Return the points of the file, one row each, with network and family."""
    points = pd.read_csv(path)
    # The second Llama of a size is another implementation of the network, not another network.
    network = points["model"].str.removeprefix("deepspeed").str.replace("llamav2", "llama")
    points["network"] = network.str.removesuffix("_toy")
    points["family"] = points["network"].str.extract(r"^([a-z]+)", expand=False)
    for place, column in enumerate(("hidden_size", "params_per_layer")):
        known = points["network"].map({name: shape[place] for name, shape in SHAPES.items()})
        points[column] = points[column].fillna(known)
    return points


def layer_rows(points: pd.DataFrame, catalog: Catalog) -> LayerRows:
    """Return all forward passes, then all backward passes, in the order of the points."""
    facts = facts_of(catalog, points["gpu"].map(CATALOG_NAMES))
    tensor = (points["precision"] == "float16") & (facts["year"] >= TENSOR_CORES_SINCE)
    peak = facts["peak_fp32_flops"].mask(tensor, facts["peak_fp16_flops"])
    usual = points["hidden_size"] / points["family"].map(HEAD_DIM)
    one = points.assign(
        accelerator=points["gpu"].map(CATALOG_NAMES),
        heads=points["network"].map(HEADS).fillna(usual),
        bytes_per_element=np.where(points["precision"] == "float16", 2.0, 4.0),
        tensor=tensor,
        peak_flops=peak,
        memory_bytes_per_s=facts["memory_bytes_per_s"],
        power_w=points["gpu"].map(CATALOG_NAMES).map(POWER_W).fillna(facts["tdp_w"]),
        year=facts["year"],
    )
    both = [
        one.assign(backward=backward, seconds=one[f"{direction}_ms_per_layer"] / 1e3)
        for backward, direction in ((False, "fwd"), (True, "bwd"))
    ]
    frame = pd.concat(both, ignore_index=True)
    work = layer_work(
        hidden=frame["hidden_size"].to_numpy(float),
        heads=frame["heads"].to_numpy(float),
        weights=frame["params_per_layer"].to_numpy(float),
        tokens=frame["seq_len"].to_numpy(float),
        batch=frame["batch"].to_numpy(float),
        bytes_per_element=frame["bytes_per_element"].to_numpy(float),
    )
    return LayerRows(with_distances(frame, work), work)


def with_distances(frame: pd.DataFrame, work: LayerWork) -> pd.DataFrame:
    """Add the columns by which rows are alike: whole numbers for labels, logarithms for sizes."""
    kind = frame["precision"] + frame["backward"].map({False: " forward", True: " backward"})
    series = frame["model"] + frame["gpu"] + frame["seq_len"].astype(str) + kind
    return frame.assign(
        kind=kind,
        of_series=pd.factorize(series)[0],
        of_cell=pd.factorize(frame["gpu"] + kind)[0],
        of_gpu=pd.factorize(frame["gpu"])[0],
        of_family=pd.factorize(frame["family"])[0],
        of_network=pd.factorize(frame["network"])[0],
        log_width=np.log(frame["hidden_size"]),
        log_tokens=np.log(frame["seq_len"]),
        log_batch=np.log(frame["batch"]),
        log_flops=np.log(work.dense_flops),
        log_peak=np.log(frame["peak_flops"]),
        log_power=np.log(frame["power_w"] / frame["peak_flops"]),
        log_bandwidth=np.log(frame["memory_bytes_per_s"] / frame["peak_flops"]),
    )
