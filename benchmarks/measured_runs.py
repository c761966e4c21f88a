"""Read tables of measured runs with ``metric`` and ``value`` columns into the store's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

TIME_METRICS: Final = ("step_time_s", "samples_per_s", "tokens_per_s", "steps_per_s")
FAMILIES: Final = {
    "transformer_lm": "language",
    "transformer_enc": "encoder",
    "moe": "moe",
    "cnn": "cnn",
    "diffusion": "diffusion",
    "rec": "recommender",
    "speech": "speech",
}
# When each source's measurements were made; a software stack ages as hardware does.
SOURCE_YEARS: Final = {
    "aws-samples": 2024, "bigscience": 2022, "cm-dare": 2019, "detectron2": 2019, "dlperf": 2021,
    "gavel": 2019, "internevo": 2023, "lambda-pytorch": 2023, "lambda-tf": 2020, "litgpt": 2024,
    "llm-foundry": 2023, "maxtext": 2024, "megatron-bridge": 2025, "megatron-llama": 2023,
    "nemo-docs": 2024, "nemo-launcher": 2024, "nvidia-dle": 2022, "profet": 2021,
    "ryujaehun": 2020, "sailor": 2024, "sia-sosp23": 2022, "timm": 2022, "torchtitan": 2024,
    "transient-dl": 2019, "zeus": 2022, "mlperf-v0.5": 2018, "mlperf-v0.6": 2019,
    "mlperf-v0.7": 2020, "mlperf-v1.0": 2021, "mlperf-v1.1": 2021, "mlperf-v2.0": 2022,
    "mlperf-v2.1": 2022, "mlperf-v3.0": 2023, "mlperf-v3.1": 2023, "mlperf-v4.0": 2024,
    "mlperf-v4.1": 2024, "mlperf-v5.0": 2025, "mlperf-v5.1": 2025,
}  # fmt: skip


def read_measured_runs(path: Path) -> pd.DataFrame:
    """Return the rows of a file that state a speed, as `measured_runs` does."""
    return measured_runs(pd.read_csv(path, low_memory=False))


def measured_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table that state a speed, with the store's column names.

    Returns
    -------
    DataFrame
        Columns as `advisor.domain.Profile` (flat), plus ``source``, ``url``, ``notes``, ``task``
        (the table's own family) and ``row`` (index in the file). ``step_time_s`` is the time of
        one global batch; NaN where batch or sequence length is not stated.
    """
    raw = table[table["metric"].isin(TIME_METRICS)].rename_axis("row").reset_index()
    batch = raw["global_batch"].fillna(raw["micro_batch"] * raw["gpus"])
    family = raw["task_family"].map(FAMILIES).fillna("other")
    is_vision = (raw["task_family"] == "transformer_enc") & (raw["source"] == "timm")
    return pd.DataFrame(
        {
            "row": raw["row"],
            "model": raw["model"],
            "family": family.mask(is_vision, "vision"),
            "params": raw["params"],
            "layers": raw["layers"],
            "hidden": raw["hidden"],
            "sample_size": raw["seq_len_or_resolution"],
            "forward_flops_per_sample": _stated_flops(raw["notes"]),
            "dataset": raw["dataset"].fillna(""),
            "framework": raw["framework"].fillna(""),
            "year": raw["source"].map(SOURCE_YEARS),
            "precision": raw["precision"].fillna(""),
            "accelerator": raw["gpu"],
            "accelerators": raw["gpus"],
            "nodes": raw["nodes"],
            "instance_type": raw["instance_type"].fillna(""),
            "interconnect": raw["interconnect"].fillna(""),
            "parallelism": _parallelism(raw),
            "global_batch": batch,
            "micro_batch": raw["micro_batch"],
            "step_time_s": _step_time_s(raw, batch),
            "source": raw["source"],
            "url": raw["source_url"],
            "notes": raw["notes"].fillna(""),
            "task": raw["task_family"],
        }
    )


def _step_time_s(raw: pd.DataFrame, batch: pd.Series) -> np.ndarray:
    value, metric = raw["value"].to_numpy(float), raw["metric"].to_numpy(str)
    samples, tokens = batch.to_numpy(float), raw["seq_len_or_resolution"].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.select(
            [metric == "step_time_s", metric == "steps_per_s", metric == "samples_per_s"],
            [value, 1 / value, samples / value],
            samples * tokens / value,
        )


def _parallelism(raw: pd.DataFrame) -> pd.Series:
    """Layout as the source writes it, with ``tuning=lora`` where the weights are frozen."""
    text = raw["parallelism"].fillna("")
    frozen = raw["model"].str.contains("LoRA") | raw["notes"].fillna("").str.contains("LoRA")
    return text.where(~frozen, (text + ";tuning=lora").str.lstrip(";"))


def _stated_flops(notes: pd.Series) -> pd.Series:
    """Forward FLOPs per sample where the source itself counted them."""
    return notes.str.extract(r"model FLOPs by the source \([^)]*\) (\d+)")[0].astype(float)
