"""Checkpoint rules: near the optimum where theory says so, beaten where it does not hold."""

from __future__ import annotations

import pytest
from spot_jobs import H, spot_job

from advisor.core.errors import InvalidInputError
from advisor.transient import Overheads, SpotJob
from advisor.transient.interval import INTERVALS
from advisor.transient.intervals.fixed import Fixed
from advisor.transient.lifetime import Exponential, Weibull
from advisor.transient.markets import known_lifetime
from advisor.transient.renewal import restart_forecast


def mean_s(job: SpotJob, rule: str) -> float:
    return restart_forecast(job, job.segments(INTERVALS[rule]().interval_s(job))).mean_s


@pytest.mark.parametrize("rule", ["young", "daly"])
@pytest.mark.parametrize("between_h", [4, 12, 48])
@pytest.mark.parametrize("write_s", [5.0, 30.0, 120.0])
def test_young_and_daly_are_within_one_percent_of_the_optimum_for_constant_hazards(
    rule: str, between_h: float, write_s: float
) -> None:
    job = spot_job(
        work_s=30 * H,
        machines=1,
        lifetime=Exponential(rate_per_s=1 / (between_h * H)),
        overheads=Overheads(start_s=80.0, load_s=60.0, checkpoint_s=write_s),
    )
    best = mean_s(job, "optimal")
    assert best * (1 - 1e-4) <= mean_s(job, rule) <= best * 1.01


def test_the_optimum_beats_the_rules_for_front_loaded_hazards() -> None:
    jobs = [
        spot_job(work_s=20 * H, machines=2, lifetime=Weibull(shape=0.4, scale_s=60 * H)),
        spot_job(work_s=6 * H, machines=4, lifetime=Weibull(shape=0.3, scale_s=30 * H)),
    ]
    known = known_lifetime("V100", "gcp", "us-central1")
    assert known is not None
    jobs.append(spot_job(work_s=20 * H, machines=1, lifetime=known.lifetime))
    for job in jobs:
        best = mean_s(job, "optimal")
        for rule in ("young", "daly"):
            assert best < mean_s(job, rule)


@pytest.mark.parametrize("rule", list(INTERVALS))
def test_every_rule_gives_an_interval_within_the_job(rule: str) -> None:
    chosen = INTERVALS[rule]()
    assert chosen.label
    assert chosen.paper
    for work_s in (60.0, 10 * H):
        job = spot_job(work_s=work_s)
        assert 0 < chosen.interval_s(job) <= work_s
        assert job.segments(chosen.interval_s(job)) >= 1


def test_a_costlier_checkpoint_is_written_less_often() -> None:
    for rule in ("young", "daly", "optimal"):
        cheap, dear = (
            INTERVALS[rule]().interval_s(
                spot_job(overheads=Overheads(start_s=80.0, load_s=60.0, checkpoint_s=write))
            )
            for write in (5.0, 100.0)
        )
        assert cheap < dear


def test_a_fixed_interval_is_positive_and_ends_with_the_job() -> None:
    assert Fixed(every_s=100 * H).interval_s(spot_job()) == 10 * H
    with pytest.raises(InvalidInputError, match="positive number"):
        Fixed(every_s=0.0)
