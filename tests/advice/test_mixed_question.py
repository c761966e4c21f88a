"""The question of mixed devices on the shipped catalog, with physics for a predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor import catalog as catalogs
from advisor import zoo
from advisor.advice.mixed_question import ask_mixed
from advisor.core.errors import InvalidInputError
from advisor.predictor.baseline import step_columns
from advisor.predictor.costs import START
from advisor.predictor.model import Prediction

if TYPE_CHECKING:
    from advisor.predictor.jobs import Jobs

WORKLOAD = zoo.build_workload(
    zoo.resolve("llama-2-7b"), tokens=1e8, sample_size=512, global_batch=64
)


class Physics:
    """A predictor without a correction."""

    def predict(self, jobs: Jobs) -> Prediction:
        ones = np.ones(len(jobs))
        return Prediction(
            parts=step_columns(jobs, START), correction=ones, log_sigma=0.2 * ones,
            log_half_width=0.3 * ones, difficulty=ones.astype(int), distance=ones,
        )  # fmt: skip


def test_a_model_that_fits_on_no_replica_is_spread_over_the_mix() -> None:
    advice = ask_mixed("8 x A100-80GB, 8 x V100-32GB", WORKLOAD, catalogs.load(), Physics())
    assert {plan.strategy for plan in advice.plans} <= {"cephalo", "sailor", "zorse"}
    assert advice.best.step_time_s.low < advice.best.step_time_s.value
    assert any("10 Gbit/s" in text for text in advice.assumptions)
    verdicts = {one.group: one.verdict for one in advice.worth}
    assert set(verdicts) == {group.name for group in advice.inventory.groups}
    assert advice.worth[1].reason


def test_a_slow_network_makes_the_second_machine_not_worth_it() -> None:
    advice = ask_mixed(
        "8 x A100-80GB, 2 x V100-32GB", WORKLOAD, catalogs.load(), Physics(),
        network_gbit_per_s=0.1,
    )  # fmt: skip
    assert {one.group: one.verdict for one in advice.worth}["V100-32GB"] == "not worth it"
    assert [group.name for group in advice.best.inventory.groups] == ["A100-80GB"]


def test_unknown_kinds_are_named_before_anything_is_predicted() -> None:
    with pytest.raises(InvalidInputError, match="Z9000"):
        ask_mixed("2 x L4, Z9000", WORKLOAD, catalogs.load(), Physics())
