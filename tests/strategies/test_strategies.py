"""Every strategy of the registry, and what sets them apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from mix_examples import WORKLOAD, speeds_of

from advisor.strategies import STRATEGIES, Speeds, Strategy, predicted_speeds
from advisor.strategies.splitting import by_weight
from advisor.strategies.systems.omnilearn import ideal_batches, time_saved
from advisor.testing.strategies import StrategyContract, estimated

MIX = (("L4", 2), ("RTX-A6000", 1), ("P40", 1))
CORES = {"HL2": (12, 12, 8, 16), "HL4": (9, 9, 6, 24), "HL8": (6, 6, 4, 32)}


@pytest.fixture(name="speeds")
def speeds_fixture() -> Speeds:
    return speeds_of(*MIX)


class TestStrategies(StrategyContract):
    @pytest.fixture(params=list(STRATEGIES))
    def strategy(self, request: pytest.FixtureRequest) -> Strategy:
        return STRATEGIES[request.param]()


def fastest(name: str, speeds: Speeds) -> float:
    return float(estimated(STRATEGIES[name](), speeds)["step_s"].min())


def test_batches_by_speed_beat_equal_batches_on_unequal_devices(speeds: Speeds) -> None:
    assert fastest("omnilearn", speeds) < 0.7 * fastest("equal_batches", speeds)


def test_on_equal_devices_batches_by_speed_are_equal_batches() -> None:
    alike = speeds_of(("L4", 4))
    assert fastest("omnilearn", alike) == pytest.approx(fastest("equal_batches", alike))


@pytest.mark.parametrize(("split", "saved"), [("HL2", 0.33), ("HL4", 0.50), ("HL8", 0.67)])
def test_omnilearn_saves_what_the_published_splits_of_cores_allow(split: str, saved: float) -> None:
    cores = np.array(CORES[split], float)
    assert ideal_batches(256, cores) == pytest.approx(256 * cores / 48)
    assert round(time_saved(cores), 2) == saved


@pytest.mark.parametrize("name", ["cephalo", "zorse"])
def test_planners_of_transformers_say_why_they_do_not_apply(name: str, speeds: Speeds) -> None:
    model = WORKLOAD.model.model_copy(update={"heads": 0})
    other = WORKLOAD.model_copy(update={"model": model})
    assert "transformer" in STRATEGIES[name]().applies(other, speeds.inventory)


def test_replicas_need_a_sample_for_every_device(speeds: Speeds) -> None:
    few = WORKLOAD.model_copy(update={"global_batch": 3})
    reason = STRATEGIES["omnilearn"]().applies(few, speeds.inventory)
    assert "4 accelerators" in reason


def test_shares_by_weight_are_whole_within_limits_and_complete() -> None:
    shares = by_weight(20, np.array([1.0, 2.0, 5.0]), np.array([10.0, 10.0, 4.0]))
    assert shares.sum() == 20
    assert shares[2] == 4
    assert by_weight(50, np.ones(2), np.array([3.0, 4.0])).tolist() == [3, 4]


def test_speeds_come_from_the_predictor_and_more_samples_never_take_less() -> None:
    asked = []

    class Linear:
        """A step of 1 ms a sample, and a dip at 8 samples."""

        def predict(self, jobs: object) -> SimpleNamespace:
            asked.append(jobs)
            batch = jobs.global_batch
            step = np.where(batch == 8 * 16, 0.5, 1.0) * batch * 1e-3
            return SimpleNamespace(step_s=step, log_half_width=np.full(len(batch), 0.3))

    inventory = speeds_of(("L4", 1)).inventory
    facts = {
        "peak_flops": 1e14, "memory_bytes": 24e9, "memory_bytes_per_s": 3e11,
        "link_bytes_per_s": 12e9, "network_bytes_per_s": 1e9, "devices_per_node": 1.0,
        "hardware_year": 2023.0, "fused_attention": 1.0, "year": 2025.0,
    }  # fmt: skip
    speeds = predicted_speeds(WORKLOAD, inventory, pd.DataFrame([facts]), Linear())
    both = [sum(speeds.pass_s(inventory.groups[0], size)) for size in (1, 8, 64, 128)]
    assert both[0] == pytest.approx(1e-3)
    assert both[2] == pytest.approx(64e-3)
    assert both == sorted(both)
    assert speeds.log_half_width(inventory) == pytest.approx(0.3)
    assert speeds.memory["L4"].sample_bytes > speeds.recomputed["L4"].sample_bytes > 0
    assert len(asked) == 1
