"""A job that runs: its log read again later is a new forecast, with advice and a warning."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import numpy as np
import pytest

from advisor import zoo
from advisor.advice import Engine
from advisor.advice.running import Run, running_forecast
from advisor.core.errors import InvalidInputError
from advisor.domain.spot import RunningForecast
from advisor.search.search import Evaluated, Machines, SearchOptions, evaluate
from advisor.traces.progress import Progress, read_progress

BEGUN = dt.datetime(2026, 12, 1, 8, tzinfo=dt.UTC)


def table_of(engine: Engine, cloud: str, name: str, count: int) -> Evaluated:
    workload = zoo.build_workload(zoo.resolve("llama-2-7b"), tokens=5e9, global_batch=1024)
    only = Machines(cloud=cloud, instance_type=name, count=count)
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions(), only)


@pytest.fixture(scope="module")
def table(engine: Engine) -> Evaluated:
    return table_of(engine, "aws", "p4d.24xlarge", 4)


def row_of(table: Evaluated, market: str) -> int:
    return int(np.flatnonzero((table.plans["market"] == market).to_numpy())[0])


def step_s(table: Evaluated) -> float:
    return float(table.best.prediction.step_s[int(table.plans["entry"].iloc[0])])


def log_of(table: Evaluated, share: float, slower: float = 1.0) -> Progress:
    """Return a log up to a share of the job, at a speed in the predicted one."""
    steps = np.linspace(0, share * table.workload.steps, 50).astype(int)
    each = step_s(table) * slower
    lines = [f"{BEGUN + dt.timedelta(seconds=float(n) * each):%Y-%m-%d %H:%M:%S.%f} step {n}"
             for n in steps]  # fmt: skip
    return read_progress("\n".join(lines))


def forecast(
    table: Evaluated, engine: Engine, progress: Progress, market: str = "spot", **run: object
) -> RunningForecast:
    given = Run(**run)  # type: ignore[arg-type]
    return running_forecast(progress, table, row_of(table, market), engine.catalog, given)


def hours_of(table: Evaluated) -> float:
    return step_s(table) * table.workload.steps / 3600


def test_the_same_log_read_later_has_less_left_and_is_surer(
    table: Evaluated, engine: Engine
) -> None:
    found = [
        forecast(table, engine, log_of(table, share), deadline_h=1.2 * hours_of(table))
        for share in (0.2, 0.5, 0.9)
    ]
    for earlier, later in pairwise(found):
        assert later.steps_done > earlier.steps_done
        assert later.remaining_h.value < earlier.remaining_h.value
        assert later.deadline_left_h < earlier.deadline_left_h
        assert later.deadline_probability >= earlier.deadline_probability
        width = [one.remaining_h.high - one.remaining_h.low for one in (earlier, later)]
        assert width[1] < width[0]
    whole = hours_of(table)
    last = found[-1]
    assert last.remaining_h.value == pytest.approx(0.1 * whole, rel=0.05)
    assert last.elapsed_h + last.deadline_left_h == pytest.approx(1.2 * whole)


def test_a_log_in_time_says_stay_and_the_latest_moment_to_switch(
    table: Evaluated, engine: Engine
) -> None:
    found = forecast(table, engine, log_of(table, 0.5), deadline_h=1.5 * hours_of(table))
    assert found.advice.startswith("Stay on spot: ")
    assert "switch to on demand in" in found.advice
    # Half the job and half of it as reserve are left.
    assert found.switch_by_h == pytest.approx(0.5 * hours_of(table), rel=0.1)
    assert found.fall_back_probability > 0.99
    assert found.data is not None
    assert found.slow is None


def test_with_too_little_time_it_says_to_switch_or_that_it_is_too_late(
    table: Evaluated, engine: Engine
) -> None:
    late = forecast(table, engine, log_of(table, 0.5), deadline_h=0.9 * hours_of(table))
    assert late.advice.startswith("Too late to move: ")
    assert late.switch_by_h < 0
    assert late.deadline_probability < 0.1


def test_a_slower_log_moves_the_forecast_and_is_called_slow(
    table: Evaluated, engine: Engine
) -> None:
    found = forecast(table, engine, log_of(table, 0.5, slower=2.5))
    assert found.remaining_h.value == pytest.approx(1.25 * hours_of(table), rel=0.05)
    assert found.slow is not None
    assert found.slow.cause == "not_told"
    assert found.slow.ratio == pytest.approx(2.5, rel=0.01)
    assert "Profiles" in found.slow.advice[0]


def test_machines_that_are_gone_are_replaced_or_moved(table: Evaluated, engine: Engine) -> None:
    found = forecast(table, engine, log_of(table, 0.5, slower=4 / 3), machines_left=3)
    assert found.slow is not None
    assert found.slow.cause == "revocation"
    assert "1 of 4 machines are gone" in found.slow.cause_words
    assert found.slow.gain == pytest.approx(4 / 3)
    assert found.slow.advice[0].startswith("Replace what is gone")


def test_a_straggler_and_full_servers_have_their_advice(table: Evaluated, engine: Engine) -> None:
    slow = log_of(table, 0.5, slower=2.5)
    swap = forecast(table, engine, slow, slowest_ratio=1.5).slow
    assert swap is not None
    assert (swap.cause, swap.advice[0][:8]) == ("straggler", "Swap the")
    full = forecast(table, engine, slow, servers=1, alone_step_s=4 * step_s(table)).slow
    assert full is not None
    assert full.cause == "server_saturated"
    assert full.advice[0].startswith("Add a parameter server: up to")


def test_on_demand_there_is_nothing_to_switch(table: Evaluated, engine: Engine) -> None:
    found = forecast(
        table, engine, log_of(table, 0.5), "on_demand", deadline_h=1.5 * hours_of(table)
    )
    assert found.advice.startswith("On time")
    assert found.data is None
    assert not found.bound


def test_without_data_the_chance_is_a_bound_and_says_so(engine: Engine) -> None:
    table = table_of(engine, "gcp", "a3-highgpu-8g", 4)
    found = forecast(table, engine, log_of(table, 0.5), deadline_h=1.5 * hours_of(table))
    assert found.bound
    assert found.data is None
    assert "at most" in found.advice or "No machine on demand" in found.advice


@pytest.mark.parametrize(
    ("run", "match"),
    [
        ({"deadline_h": 0.1}, "the deadline is over"),
        ({"machines_left": 9}, "not possible"),
        ({"machines_left": 0}, "not possible"),
        ({"machines_age_h": -2.0, "deadline_h": None}, "age of the machines"),
        ({"policy": "elastik"}, "elastic"),
        ({"chance": 2.0}, "chance"),
    ],
)
def test_what_is_impossible_is_said(
    table: Evaluated, engine: Engine, run: dict[str, object], match: str
) -> None:
    with pytest.raises(InvalidInputError, match=match):
        forecast(table, engine, log_of(table, 0.5), **run)


def test_a_job_that_is_over_says_so(table: Evaluated, engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="the job is over"):
        forecast(table, engine, log_of(table, 1.0))
