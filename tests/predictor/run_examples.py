"""Measured runs for the tests: one in the store's columns, changed as a test needs it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from advisor.catalog import load
from advisor.predictor.hardware import facts_of
from advisor.predictor.runs import resolve_runs

if TYPE_CHECKING:
    from advisor.catalog import Catalog

RUN: dict[str, Any] = {
    "model": "a decoder", "family": "language", "params": 6.7e9, "layers": 32.0,
    "hidden": 4096.0, "sample_size": 2048.0, "forward_flops_per_sample": np.nan, "dataset": "",
    "framework": "PyTorch", "year": 2023.0, "precision": "bf16", "accelerator": "A100-80GB",
    "accelerators": 8.0, "nodes": 1.0, "instance_type": "", "interconnect": "",
    "parallelism": "", "global_batch": 64.0, "micro_batch": 1.0, "step_time_s": 10.0,
    "source": "me",
}  # fmt: skip
CONVNET: dict[str, Any] = {
    "model": "resnet50", "family": "cnn", "params": np.nan, "layers": np.nan, "hidden": np.nan,
    "sample_size": 224.0, "precision": "fp32", "global_batch": 256.0, "micro_batch": 32.0,
    "step_time_s": 0.2,
}  # fmt: skip


@cache
def catalog() -> Catalog:
    return load()


def frame(*changes: dict[str, Any]) -> pd.DataFrame:
    """Return one run per change of `RUN`."""
    return pd.DataFrame([RUN | change for change in changes])


def resolved(*changes: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of the physics of one run per change of `RUN`."""
    profiles = frame(*changes)
    return resolve_runs(profiles, facts_of(catalog(), profiles["accelerator"]))


def one(name: str, **change: Any) -> float:
    """Return one column of a changed run."""
    return float(resolved(change)[name].iloc[0])
