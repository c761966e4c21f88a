"""Real runs: their bills by one rule, and what of the boards holds."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.transient.tables import table
from benchmarks.boards.in_flight import full_servers, in_flight
from benchmarks.boards.real_runs import CLUSTERS, billed_usd, real_runs, reliability, transient


@pytest.mark.parametrize("workers", [4, 8])
def test_bills_of_four_and_eight_workers_charge_a_lost_one_for_its_uptime(workers: int) -> None:
    runs = transient(workers)
    assert runs["workers_lost"].sum() > 0
    assert billed_usd(runs).to_numpy() == pytest.approx(runs["cost_usd"].to_numpy(), rel=1e-6)


def test_bills_of_two_workers_charge_a_lost_one_to_the_end() -> None:
    runs = transient(2)
    whole = runs["workers_lost"] == 0
    ratio = billed_usd(runs) / runs["cost_usd"]
    assert ratio[whole].to_numpy() == pytest.approx(1.0, rel=1e-6)
    assert (ratio[~whole] < 0.9).all()


def test_times_of_runs_on_demand_lie_a_minute_apart() -> None:
    runs = table("runs").query("market == 'on_demand' and gpus == '8xK80'")
    times = np.sort(runs["training_time_s"].to_numpy())
    steps = np.diff(times)
    assert ((steps < 3) | (np.abs(steps - 60) < 3)).all()


def test_ranges_cover_time_and_bill_of_real_runs() -> None:
    rows = {row.name: row for row in real_runs()}
    assert all(row.holds for row in rows.values())
    for workers in CLUSTERS:
        assert rows[f"transient_runs.{workers}xK80.n"].value == len(transient(workers))
    assert rows["transient_runs.2xK80.bill_as_recorded_coverage_90"].value < 0.85


def test_deadlines_are_met_no_less_often_than_said() -> None:
    rows = [row for row in reliability() if "met_at" in row.name]
    assert len(rows) == 9
    for row in rows:
        low = float(str(row.bar).split(" to ")[0])
        assert row.value >= low
    values = [row.value for row in rows]
    assert values == sorted(values)


def test_workers_that_are_gone_do_not_come_back_in_the_logs() -> None:
    logs = table("progress")
    for _, run in logs.groupby(["gpus", "zone", "run"]):
        assert (np.diff(run["step"]) > 0).all()
        assert (np.diff(run["workers"]) <= 0).all()
        assert run["step"].iloc[-1] >= 64_000


def test_logs_of_real_runs_tell_what_was_left() -> None:
    rows = {row.name: row for row in in_flight()}
    assert rows["in_flight.n"].value > 250
    assert rows["in_flight.remaining_coverage_90"].holds
    assert rows["in_flight.remaining_median_error"].value < 4


def test_full_servers_are_told_from_speeds() -> None:
    rows = {row.name: row for row in full_servers()}
    assert rows["full_servers.told"].holds
    assert rows["full_servers.n"].value >= 40
