"""Overheads: fits against the measured tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.transient.overheads import (
    fit_checkpoint,
    measured_checkpoint,
    measured_start,
    replacement_s,
)
from advisor.transient.tables import table


def test_a_start_is_the_mean_of_the_measured_ones() -> None:
    found = measured_start("K80", "us-east1")
    assert found is not None
    assert (found.n, round(found.mean_s, 1)) == (12, 80.7)
    every = measured_start("K80", "elsewhere")
    assert every is not None
    assert every.n == 22
    assert measured_start("H100") is None


def test_preemptible_machines_start_later_than_on_demand_ones() -> None:
    for gpu in ("K80", "P100"):
        spot, demand = (measured_start(gpu, market=kind) for kind in ("preemptible", "on_demand"))
        assert spot is not None
        assert demand is not None
        assert 5 < spot.mean_s - demand.mean_s < 25


def test_replacement_follows_the_tensors_within_five_seconds() -> None:
    for row in table("replacement").itertuples():
        assert replacement_s(row.num_tensors, row.start) == pytest.approx(row.mean_s, abs=5)


def test_a_checkpoint_is_latency_and_bytes_over_bandwidth() -> None:
    rows = pd.DataFrame(
        {
            "checkpoint_mb": [10.0, 100.0, 400.0],
            "index_kb": [1.0, 10.0, 5.0],
            "local_write_s": [0.05, 0.5, 0.25],
            "upload_s": [3 + 10 / 50, 3 + 100 / 50, 3 + 400 / 50],
        }
    )
    found = fit_checkpoint(rows)
    assert found.latency_s == pytest.approx(3)
    assert found.bandwidth_bytes_per_s == pytest.approx(50e6)
    assert found.seconds(200e6, 2.0) == pytest.approx(3 + 4 + 0.1)


def test_measured_checkpoints_are_predicted_within_a_fifth() -> None:
    rows = table("checkpoints").groupby("model").mean(numeric_only=True)
    seconds = measured_checkpoint().seconds(rows["checkpoint_mb"] * 1e6, rows["index_kb"])
    assert (abs(seconds / rows["total_duration_s"] - 1) < 0.2).all()


def test_a_step_lost_is_a_step_trained_again() -> None:
    # The runs fit two K80 at 9.06 steps/s (ResNet-32).
    speed = table("scaling").query("model == 'resnet-32' and gpu == 'K80' and workers == 2")
    runs = table("recomputation").dropna(subset=["steps_since_last_checkpoint"])
    slope, _ = np.polyfit(runs["steps_since_last_checkpoint"], runs["training_time_s"], 1)
    assert slope == pytest.approx(1 / speed["steps_per_s"].iloc[0], rel=0.1)
