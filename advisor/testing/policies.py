"""What every policy for spot machines must satisfy.

A test module runs it over the registry, with a fixture ``policy``, a job that it applies to, and
the lowest and highest price [USD/h] that the policy pays for one machine::

    class TestPolicies(PolicyContract):
        @pytest.fixture(params=list(POLICIES))
        def policy(self, request):
            return POLICIES[request.param]()

        @pytest.fixture
        def rates(self, job):
            return job.usd_per_h, job.usd_per_h
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from advisor.core.units import HOUR_S
from advisor.transient.lifetime import Exponential
from advisor.transient.runs import Draws, outcome

if TYPE_CHECKING:
    from advisor.transient.job import SpotJob
    from advisor.transient.policy import Policy

SEGMENTS = 12
RUNS = 2000


class PolicyContract:
    """Invariants of the fixture ``policy`` on the fixture ``job``, a job that it applies to."""

    def test_it_has_a_label_and_a_source(self, policy: Policy) -> None:
        assert policy.label
        assert len(policy.paper) > 5

    def test_it_applies_to_the_job(self, policy: Policy, job: SpotJob) -> None:
        assert policy.applies(job, SEGMENTS) == ""

    def test_every_run_ends_after_its_work_and_costs_something(
        self, policy: Policy, job: SpotJob
    ) -> None:
        runs = policy.simulate(job, SEGMENTS, Draws(RUNS))
        for column in vars(runs).values():
            assert column.shape == (RUNS,)
            assert np.isfinite(column).all()
        assert (runs.finish_s >= job.work_s).all()
        assert (runs.cost_usd > 0).all()
        assert (runs.revocations >= 0).all()
        assert (runs.paid_s >= runs.useful_s * (1 - 1e-9)).all()

    @pytest.mark.parametrize("common_share", [0.0, 0.5, 1.0])
    def test_the_bill_is_what_was_paid_at_its_price(
        self, policy: Policy, job: SpotJob, rates: tuple[float, float], common_share: float
    ) -> None:
        rough = Exponential(rate_per_s=1 / (12 * HOUR_S))
        shared = replace(job, common_share=common_share, lifetime=rough)
        runs = policy.simulate(shared, SEGMENTS, Draws(RUNS))
        low, high = (runs.paid_s * rate / HOUR_S for rate in rates)
        assert (runs.cost_usd >= low * (1 - 1e-9)).all()
        assert (runs.cost_usd <= high * (1 + 1e-9)).all()
        # Beside the group, at most one machine is paid, and useful work is paid in any case.
        assert (runs.paid_s <= runs.finish_s * (job.machines + 1) * (1 + 1e-9)).all()
        assert (runs.paid_s >= runs.useful_s * (1 - 1e-9)).all()

    def test_equal_draws_give_equal_runs(self, policy: Policy, job: SpotJob) -> None:
        first, again = (policy.simulate(job, SEGMENTS, Draws(200, seed=5)) for _ in range(2))
        assert (first.finish_s == again.finish_s).all()
        assert (first.cost_usd == again.cost_usd).all()

    def test_without_revocations_it_takes_start_load_work_and_checkpoints(
        self, policy: Policy, job: SpotJob
    ) -> None:
        calm = replace(job, lifetime=Exponential(rate_per_s=0.0))
        runs = policy.simulate(calm, SEGMENTS, Draws(50))
        most = job.uninterrupted_s + SEGMENTS * job.overheads.checkpoint_s
        assert runs.finish_s == pytest.approx(runs.finish_s[0])
        assert job.uninterrupted_s - 1e-6 <= runs.finish_s[0] <= most + 1e-6
        assert (runs.revocations == 0).all()

    def test_a_rougher_market_does_not_help(self, policy: Policy, job: SpotJob) -> None:
        rough = replace(job, lifetime=Exponential(rate_per_s=1 / (6 * 3600)))
        calm = replace(job, lifetime=Exponential(rate_per_s=1 / (600 * 3600)))
        times = [
            outcome(one, policy.simulate(one, SEGMENTS, Draws(RUNS))).mean_s
            for one in (calm, rough)
        ]
        assert times[1] >= times[0] * (1 - 1e-9)

    def test_more_work_takes_longer(self, policy: Policy, job: SpotJob) -> None:
        more = replace(job, work_s=1.5 * job.work_s, deadline_s=1.5 * job.deadline_s)
        times = [policy.simulate(one, SEGMENTS, Draws(RUNS)).finish_s.mean() for one in (job, more)]
        assert times[1] > times[0]
