"""Measured runs for tests of the store."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from advisor.domain import Profile, Provenance

SOURCE = Provenance(source="lab", url="https://lab.example", licence="CC-BY-4.0")


def run(number: int = 0, **fields: Any) -> Profile:
    """Return a measured run; another number is another run."""
    given: dict[str, Any] = {
        "model": f"net-{number % 7}",
        "family": "cnn",
        "accelerator": "V100",
        "accelerators": 8,
        "step_time_s": 0.1 + number,
        "provenance": SOURCE,
    }
    return Profile(**given | fields)


def full_run() -> Profile:
    """Return a measured run of which everything is known."""
    return Profile(
        model="GPT-3 “175B”",
        family="language",
        params=1.75e11,
        layers=96,
        hidden=12288,
        sample_size=2048,
        forward_flops_per_sample=7.1e14,
        dataset="the Pile",
        framework="Megatron-LM",
        year=2021,
        precision="fp16",
        accelerator="A100-80GB",
        accelerators=1024,
        nodes=128,
        instance_type="DGX A100",
        interconnect="8 × HDR InfiniBand",
        parallelism="tp=8;pp=8;dp=16",
        global_batch=1536,
        micro_batch=1,
        step_time_s=math.pi,
        peak_memory_bytes=7.1e10,
        gpu_busy_share=0.93,
        comm_share=0.1,
        provenance=SOURCE.model_copy(
            update={"collected": dt.date(2021, 4, 9), "notes": "table 1, row 10"}
        ),
    )
