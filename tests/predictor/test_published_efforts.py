"""Whole published efforts, that no row of the training data knows of."""

from __future__ import annotations

import pandas as pd
import pytest

from advisor.advice.forecast import forecast_on_accelerators, forecast_on_machines
from advisor.core.paths import TABLES_DIR
from advisor.domain import Workload
from advisor.zoo import build_workload, get

# Llama 2 model card, "Hardware and software": GPU-hours on A100-80GB for 2 T tokens; sequences
# of 4,096 and batches of 4 M tokens (Touvron et al., 2023, arXiv 2307.09288, section 2.2).
GPU_HOURS = {"llama-2-7b": 184_320, "llama-2-70b": 1_720_320}
GPUS = 1024


def pretraining(name: str) -> Workload:
    return build_workload(get(name), tokens=2e12, sample_size=4096, global_batch=1024)


@pytest.mark.parametrize("name", GPU_HOURS)
def test_llama_2_on_so_many_accelerators(engine, name) -> None:
    forecast = forecast_on_accelerators("A100-80GB", GPUS, pretraining(name), engine)
    hours = forecast.accelerator_hours
    assert hours.value == pytest.approx(GPU_HOURS[name], rel=0.25)
    assert hours.low < GPU_HOURS[name] < hours.high
    assert forecast.accelerators == GPUS


@pytest.mark.parametrize("name", GPU_HOURS)
def test_llama_2_on_machines_of_the_catalog(engine, name) -> None:
    machines = f"{GPUS // 8} x Standard_ND96amsr_A100_v4"
    hours = forecast_on_machines(machines, pretraining(name), engine).accelerator_hours
    assert hours.value == pytest.approx(GPU_HOURS[name], rel=0.25)
    assert hours.low < GPU_HOURS[name] < hours.high


def test_no_pretraining_of_llama_2_is_in_the_training_data() -> None:
    runs = pd.read_csv(TABLES_DIR / "profiles" / "runs.csv")
    llama = runs[runs["model"].str.contains(r"llama[-_ ]?2(?![\d.])", case=False)]
    # What there is: MLPerf's fine-tuning of adapters, and frameworks' own benchmarks.
    adapters = llama["parallelism"].fillna("").str.contains("lora")
    assert adapters.all() or set(llama[~adapters]["source"]) <= {"megatron-bridge", "nemo-docs"}
    at_scale = (runs["accelerators"] >= 1000) & runs["accelerator"].str.contains("A100")
    assert not (at_scale & runs["model"].str.contains("llama", case=False)).any()
    seconds = runs["step_time_s"] * runs["accelerators"]
    for hours in GPU_HOURS.values():
        whole = (seconds / 3600 - hours).abs() < 0.001 * hours
        assert not whole.any()
