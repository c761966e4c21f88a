"""Parameter-server clusters: known truths come back, and caps are shared between GPUs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from advisor.core.errors import PredictionError
from advisor.predictor.collectives import smooth_min
from advisor.transient.servers import fit_clusters, fit_curves
from advisor.transient.tables import table


def curve(gpu: str, worker: float, cap: float, workers: range) -> pd.DataFrame:
    count = np.array(workers, float)
    return pd.DataFrame(
        {"model": "net", "gpu": gpu, "parameter_servers": 1, "workers": count,
         "steps_per_s": smooth_min(worker * count, cap)}
    )  # fmt: skip


def test_a_slow_gpu_learns_its_cap_from_a_fast_one() -> None:
    rows = pd.concat([curve("slow", 5, 40, range(1, 5)), curve("fast", 14, 40, range(1, 5))])
    found = fit_curves(rows)
    assert found.cap["net", 1] == pytest.approx(40, rel=0.01)
    eight = found.steps_per_s("net", "slow", 1, np.array([8.0]))
    assert eight == pytest.approx(smooth_min(40.0, 40.0), rel=0.01)


def test_straight_curves_stay_straight() -> None:
    rows = curve("slow", 5, 1e9, range(1, 5))
    speed = fit_curves(rows).steps_per_s("net", "slow", 1, np.array([8.0]))
    assert speed == pytest.approx(40, rel=0.01)


def test_a_cluster_that_was_not_measured_is_refused() -> None:
    with pytest.raises(PredictionError, match="not measured on V100"):
        fit_curves(table("scaling")).steps_per_s("resnet-32", "V100", 1, np.array([2.0]))


def test_measured_curves_are_fitted_within_a_fifth() -> None:
    rows = table("scaling")
    found = fit_curves(rows)
    for row in rows.itertuples():
        speed = found.steps_per_s(
            row.model, row.gpu, row.parameter_servers, np.array([float(row.workers)])
        )
        assert float(speed[0]) == pytest.approx(row.steps_per_s, rel=0.2)


def test_factor_and_caps_of_clusters_come_back() -> None:
    linear = np.tile(np.array([5, 10, 20, 40, 80.0]), 2)
    servers = np.repeat([1, 2], 5)
    speed = smooth_min(0.95 * linear, np.where(servers == 1, 45.0, 90.0))
    found = fit_clusters(linear, servers, speed)
    assert found.factor == pytest.approx(0.95, rel=1e-3)
    assert found.caps[1] == pytest.approx(45, rel=1e-3)
    assert found.caps[2] == pytest.approx(90, rel=1e-3)
    assert found.steps_per_s(linear, servers) == pytest.approx(speed, rel=1e-3)
