"""What every strategy must satisfy.

A test module runs it over the registry, with a fixture ``strategy`` and a fixture ``speeds`` whose
job the strategy applies to::

    class TestStrategies(StrategyContract):
        @pytest.fixture(params=list(STRATEGIES))
        def strategy(self, request):
            return STRATEGIES[request.param]()
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest

from advisor.domain.mixed import Label
from advisor.strategies.strategy import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

    from advisor.strategies import Speeds, Strategy


def estimated(strategy: Strategy, speeds: Speeds) -> pd.DataFrame:
    """Return the candidates that fit, with their columns."""
    candidates = strategy.plans(speeds.workload, speeds.inventory)
    return strategy.estimate(candidates, speeds).dropna(subset=["step_s"])


class StrategyContract:
    """Invariants of the fixture ``strategy`` on the fixture ``speeds``, which it applies to."""

    def test_it_has_a_title_a_source_and_a_label(self, strategy: Strategy) -> None:
        assert strategy.title
        assert len(strategy.paper) > 10
        assert strategy.label in get_args(Label)

    def test_it_applies_to_the_job(self, strategy: Strategy, speeds: Speeds) -> None:
        assert strategy.applies(speeds.workload, speeds.inventory) == ""

    def test_every_candidate_gets_all_columns(self, strategy: Strategy, speeds: Speeds) -> None:
        candidates = strategy.plans(speeds.workload, speeds.inventory)
        table = strategy.estimate(candidates, speeds)
        assert len(table) == len(candidates) > 0
        assert set(COLUMNS) <= set(table.columns)
        assert table["step_s"].notna().any()

    def test_the_parts_sum_to_the_step(self, strategy: Strategy, speeds: Speeds) -> None:
        for row in estimated(strategy, speeds).to_dict("records"):
            assert strategy.parts(row).total_s == pytest.approx(row["step_s"])

    def test_the_whole_batch_is_trained_and_the_states_are_kept(
        self, strategy: Strategy, speeds: Speeds
    ) -> None:
        for shares in estimated(strategy, speeds)["shares"]:
            devices = sum(share.devices for share in shares)
            assert devices == speeds.inventory.accelerators
            layered = [share.layers or speeds.layers for share in shares]
            trained = sum(
                share.devices * share.batch * layers
                for share, layers in zip(shares, layered, strict=True)
            )
            assert trained == pytest.approx(speeds.workload.global_batch * speeds.layers)
            assert sum(share.devices * share.state_share for share in shares) >= 1 - 1e-4

    def test_no_device_is_above_its_memory(self, strategy: Strategy, speeds: Speeds) -> None:
        for shares in estimated(strategy, speeds)["shares"]:
            assert all(share.memory_bytes <= share.capacity_bytes for share in shares)

    def test_devices_twice_as_slow_are_no_faster_together(
        self, strategy: Strategy, speeds: Speeds
    ) -> None:
        slower = speeds
        for group in speeds.inventory.groups:
            slower = slower.scaled(group.name, 2.0)
        steps = [estimated(strategy, one)["step_s"].min() for one in (speeds, slower)]
        assert np.isfinite(steps).all()
        assert steps[0] < steps[1] <= 2 * steps[0] * (1 + 1e-9)

    def test_equal_questions_have_equal_answers(self, strategy: Strategy, speeds: Speeds) -> None:
        first, again = (estimated(strategy, speeds) for _ in range(2))
        assert first.equals(again)
