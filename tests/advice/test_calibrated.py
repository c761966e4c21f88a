"""Own runs end to end: picks, front, forecasts and today's machines, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from advisor import zoo
from advisor.advice import Engine, advise
from advisor.advice.calibrated import doubts, sentence
from advisor.advice.forecast import current_plan, forecast_on_machines
from advisor.domain import Advice, Forecast, OwnRun, OwnRuns, Profile, Provenance
from advisor.search.search import SearchOptions

if TYPE_CHECKING:
    from advisor.domain import Workload

MACHINES = "4 x p4de.24xlarge"
SLOWER = 1.6


@pytest.fixture(scope="module")
def workload() -> Workload:
    return zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )


@pytest.fixture(scope="module")
def before(workload: Workload, engine: Engine) -> Forecast:
    return forecast_on_machines(MACHINES, workload, engine)


def run(before: Forecast, factor: float = SLOWER, **changes: Any) -> Profile:
    """Return a run that was slower than predicted."""
    fields: dict[str, Any] = {
        "model": "llama-2-7b", "family": "language", "accelerator": "A100-80GB",
        "accelerators": 32, "nodes": 4, "global_batch": 1024, "sample_size": 4096,
        "precision": "bf16", "step_time_s": factor * before.step_time_s.value,
        "provenance": Provenance(source="own trace"),
    }  # fmt: skip
    return Profile(**(fields | changes))


def test_without_own_runs_nothing_is_said_of_them(before: Forecast, engine: Engine) -> None:
    assert before.calibrated is None
    assert before.own_runs is None
    assert engine.own_runs is None
    assert engine.calibrated([]).own_runs is None


def test_the_forecast_of_the_machines_of_the_run_is_what_was_measured(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    own = run(before)
    after = forecast_on_machines(MACHINES, workload, engine.calibrated([own]))
    assert after.step_time_s.value == pytest.approx(own.step_time_s, rel=0.1)
    assert after.step_time_s.basis == "calibrated"
    width = after.step_time_s.high / after.step_time_s.low
    assert width < before.step_time_s.high / before.step_time_s.low
    assert after.parts.total_s == pytest.approx(after.step_time_s.value)
    assert after.calibrated is not None
    # Of the layout that is fastest now, which need not be the one that was without the run.
    uncalibrated = after.calibrated.step_time_before_s.value
    assert before.step_time_s.value <= uncalibrated < 1.05 * before.step_time_s.value
    assert after.calibrated.hours_before.value == pytest.approx(before.hours.value, rel=0.05)
    assert after.calibrated.factor == pytest.approx(after.step_time_s.value / uncalibrated)
    assert (after.calibrated.likeness, after.calibrated.runs) == ("same job", 1)
    assert after.own_runs is not None
    assert after.own_runs.used[0].measured_s == own.step_time_s
    assert Forecast.from_json(after.to_json()) == after


def test_more_runs_move_more_and_know_more(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    half = {"global_batch": 512, "accelerators": 16, "nodes": 2}
    runs = [run(before, SLOWER * (1 + 0.02 * i), **half) for i in range(5)]
    after = [
        forecast_on_machines(MACHINES, workload, engine.calibrated(runs[:k])) for k in (1, 3, 5)
    ]
    steps = [one.step_time_s.value for one in after]
    assert before.step_time_s.value < steps[0] < steps[1] < steps[2]
    assert [one.calibrated.runs for one in after if one.calibrated] == [1, 3, 5]


def test_another_accelerator_is_moved_little_and_keeps_its_basis(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    hopper = "2 x p5.48xlarge"
    plain = forecast_on_machines(hopper, workload, engine)
    after = forecast_on_machines(hopper, workload, engine.calibrated([run(before)]))
    assert after.calibrated is not None
    assert after.calibrated.likeness == "same model"
    factor = after.step_time_s.value / plain.step_time_s.value
    assert 1.0 < factor < 1 + (SLOWER - 1) / 2


def test_picks_front_and_today_are_calibrated(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    runs = [run(before)]
    calibrated = engine.calibrated(runs)
    options = SearchOptions(retry_share=0.2)
    today = current_plan(MACHINES, workload, calibrated, options=options)
    advice = advise(workload, engine, options=options, current=today, runs=runs)
    assert today.calibrated is not None
    assert today.hours.basis == "calibrated"
    plain = current_plan(MACHINES, workload, engine, options=options)
    assert today.calibrated.hours_before.value == pytest.approx(plain.hours.value, rel=0.05)
    for plan in [pick.plan for pick in advice.picks.values()] + list(advice.pareto):
        assert plan.calibrated is not None
        assert plan.calibrated.likeness in ("same job", "same model and accelerator", "same model")
    assert advice.own_runs is not None
    assert len(advice.own_runs.used) == 1
    assert Advice.from_json(advice.to_json()) == advice
    same = advise(workload, calibrated, options=options, current=today)
    assert same == advice


def test_runs_that_cannot_be_used_change_nothing_and_are_named(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    after = forecast_on_machines(
        MACHINES, workload, engine.calibrated([run(before, model="my own net")])
    )
    assert after.step_time_s.value == pytest.approx(before.step_time_s.value)
    assert after.step_time_s.basis == before.step_time_s.basis
    assert after.calibrated is None
    assert after.own_runs is not None
    assert after.own_runs.unused[0].name == "my own net"


def test_the_change_is_said_in_one_line(
    before: Forecast, workload: Workload, engine: Engine
) -> None:
    after = forecast_on_machines(MACHINES, workload, engine.calibrated([run(before)]))
    assert after.calibrated is not None
    said = sentence(after.calibrated, after.hours.value)
    assert said.startswith("before ")
    assert said.endswith("by one of your runs (same job)")


@pytest.mark.parametrize(
    ("measured_s", "times"), [(7.7, "77.0"), (0.002, "50.0"), (2.9, ""), (0.1, "")]
)
def test_a_step_far_from_what_is_predicted_is_to_be_checked(measured_s, times) -> None:
    one = OwnRun(model="gpt-2", accelerator="A100-40GB", accelerators=8, global_batch=64,
                 measured_s=measured_s, predicted_s=0.1)  # fmt: skip
    said = doubts(OwnRuns(used=(one,), unused=()))
    words = f"its step is {times} times off what is predicted: check it"
    assert said == ((f"gpt-2 on 8 × A100-40GB: {words}",) if times else ())
    assert doubts(None) == ()
