"""Reinforcement learning from human feedback."""

from __future__ import annotations

import pytest
from hypothesis import given
from job_examples import LAYERS, PARAMS, TOKENS, any_job, make

from advisor.predictor.jobs import Jobs
from advisor.predictor.preferences import SEQUENCES_PER_DEVICE, answers_s, scoring_share


def test_every_token_of_an_answer_reads_all_weights() -> None:
    # 6.6 B weights of two bytes at 60 % of 2.04 TB/s and 32 layers of 0.1 ms, 2,048 times.
    once = answers_s(make(global_batch=8.0 * SEQUENCES_PER_DEVICE))[0]
    token = 2 * PARAMS / (0.6 * 2.04e12) + LAYERS * 1e-4
    assert once == pytest.approx(TOKENS / 2 * token)


def test_a_batch_beyond_what_the_devices_take_at_once_is_written_in_rounds() -> None:
    once = answers_s(make(global_batch=8.0 * SEQUENCES_PER_DEVICE))[0]
    assert answers_s(make(global_batch=24.0 * SEQUENCES_PER_DEVICE))[0] == pytest.approx(3 * once)


def test_weights_that_no_device_holds_are_read_by_several() -> None:
    large = make(active_params=70e9, global_batch=8.0 * SEQUENCES_PER_DEVICE)
    token = 140e9 / 4 / (0.6 * 2.04e12) + LAYERS * 1e-4
    assert answers_s(large)[0] > TOKENS / 2 * token
    assert answers_s(large)[0] == pytest.approx(TOKENS / 2 * token, rel=0.2)


def test_the_reference_costs_a_forward_pass() -> None:
    assert scoring_share(make())[0] == pytest.approx(1 / 3)
    assert scoring_share(make(recompute_share=1.0))[0] == pytest.approx(1 / 4)


@given(columns=any_job())
def test_answers_always_take_time(columns: dict[str, float]) -> None:
    assert answers_s(Jobs.from_columns(**columns))[0] > 0
