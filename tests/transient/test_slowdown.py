"""Why a running job is slow: on measured clusters, and on every kind of fact."""

from __future__ import annotations

import pytest

from advisor.core.errors import InvalidInputError
from advisor.transient.accuracy import accuracy_near, measured_accuracy
from advisor.transient.pace import Pace
from advisor.transient.slowdown import Facts, gain_of_server, slowdown
from advisor.transient.tables import table

WORKERS = 8


def pace(step_s: float, earlier: float | None = None) -> Pace:
    return Pace(step_s, 0.02, 0.0, earlier, 0.0)


def cluster(model: str, gpu: str, servers: int) -> tuple[float, float]:
    """Return the speed of eight workers, and eight times that of one [steps/s]."""
    rows = table("scaling").set_index(["model", "gpu", "parameter_servers", "workers"])
    speed = rows["steps_per_s"]
    return float(speed[model, gpu, servers, 8]), 8 * float(speed[model, gpu, servers, 1])


@pytest.mark.parametrize("model", sorted(table("scaling")["model"].unique()))
def test_full_servers_are_found_behind_eight_p100_and_not_behind_eight_k80(model: str) -> None:
    for gpu, saturated in (("P100", True), ("K80", False)):
        speed, linear = cluster(model, gpu, 1)
        facts = Facts(machines=8, machines_left=8, alone_step_s=8 / linear, servers=1)
        found = slowdown(pace(1 / speed), 1 / linear, 0.03, facts)
        if not saturated:
            assert found is None or found.cause == "not_told"
            continue
        assert found is not None
        assert found.cause == "server_saturated"
        assert found.ratio == pytest.approx(linear / speed)
        assert 1 < found.gain < 2


def test_a_second_server_gains_about_what_was_measured_where_servers_are_the_limit() -> None:
    for model in ("resnet-15", "resnet-32"):
        one, linear = cluster(model, "P100", 1)
        two, _ = cluster(model, "P100", 2)
        assert gain_of_server(one, linear, 1) == pytest.approx(two / one, rel=0.15)


def test_a_gain_is_never_more_than_the_servers_or_the_workers_give() -> None:
    assert gain_of_server(5.0, 100.0, 1) == pytest.approx(2.0, rel=0.01)
    assert gain_of_server(99.0, 100.0, 1) < 1.02
    assert gain_of_server(10.0, 100.0, 3) < 4 / 3 + 1e-9


def test_a_job_as_fast_as_predicted_is_not_slow() -> None:
    facts = Facts(machines=8, machines_left=8)
    assert slowdown(pace(1.0), 1.0, 0.1, facts) is None
    assert slowdown(pace(1.15), 1.0, 0.1, facts) is None  # within what is not sure
    assert slowdown(pace(0.5), 1.0, 0.1, facts) is None
    assert slowdown(pace(1.3), 1.0, 0.1, facts) is not None


def test_a_job_that_got_slower_is_slow_whatever_was_predicted() -> None:
    found = slowdown(pace(1.0, earlier=0.8), 1.0, 0.5, Facts(machines=8, machines_left=8))
    assert found is not None
    assert found.cause == "not_told"
    assert found.gain is None


def test_machines_that_are_gone_come_before_other_causes() -> None:
    facts = Facts(machines=8, machines_left=6, slowest_ratio=1.4)
    found = slowdown(pace(8 / 6), 1.0, 0.5, facts)
    assert found is not None
    assert (found.cause, found.gain) == ("revocation", pytest.approx(8 / 6))


def test_a_slow_machine_is_named_where_a_trace_tells() -> None:
    facts = Facts(machines=8, machines_left=8, slowest_ratio=1.4)
    found = slowdown(pace(1.4), 1.0, 0.05, facts)
    assert found is not None
    assert (found.cause, found.gain) == ("straggler", 1.4)


@pytest.mark.parametrize(
    "bad",
    [
        {"machines": 0, "machines_left": 1},
        {"machines": 4, "machines_left": 0},
        {"machines": 4, "machines_left": 5},
        {"machines": 4, "machines_left": 4, "slowest_ratio": -1.0},
        {"machines": 4, "machines_left": 4, "alone_step_s": 0.0},
    ],
)
def test_facts_that_are_impossible_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        Facts(**bad)  # type: ignore[arg-type]


def test_accuracy_falls_with_asynchronous_workers_as_measured() -> None:
    shares = {one.workers: one.top1 for one in measured_accuracy()}
    assert shares[1] == pytest.approx(0.931, abs=5e-4)
    assert shares[8] == pytest.approx(0.888, abs=5e-4)
    assert sorted(shares.values(), reverse=True) == list(shares.values())
    alone, near = accuracy_near(100)
    assert (alone.workers, near.workers) == (1, 8)
