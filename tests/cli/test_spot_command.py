"""The commands for spot machines: policies of a plan, and a job that runs."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import run_fixture  # noqa: F401 - a fixture

from advisor.cli import spot
from advisor.domain.spot import RunningForecast, SpotAdvice
from advisor.transient import POLICIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from command_line import Ran

    from advisor.advice import Engine
    from advisor.catalog import Catalog

JOB = ("--model", "resnet-50", "--epochs", "90", "--global-batch", "256")
KNOWN = ("--machines", "4 x g4dn.12xlarge", "--region", "us-east-1")
UNKNOWN = ("--machines", "2 x a3-highgpu-8g")
FLAT = str.maketrans({"\n": " ", "\u00a0": " "})


@pytest.fixture(autouse=True)
def trained(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Opened:
        @staticmethod
        def open(catalog: Catalog) -> Engine:
            assert catalog.hash == engine.catalog.hash
            return engine

    monkeypatch.setattr(spot, "Engine", Opened)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    begun = dt.datetime(2026, 12, 3, tzinfo=dt.UTC)
    lines = (
        f"{begun + dt.timedelta(seconds=110.0 * n):%Y-%m-%d %H:%M:%S} step {1000 * n}/450411"
        for n in range(1, 100)
    )
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines))
    return path


def test_every_policy_is_printed_with_the_data_behind_it(run: Callable[..., Ran]) -> None:
    ran = run("spot", *JOB, *KNOWN, "--deadline-h", "20")
    said = " ".join(ran.out.translate(FLAT).split())
    assert ran.code == 0
    assert "Rests on: 10–15 % of machines interrupted in a month" in said
    assert "n not published, 2025" in said
    assert "there is no price history" in said
    assert "8 machines: " in said
    assert "caution: Asynchronous workers cost accuracy: top-1 fell from 93.1 %" in said


def test_json_is_the_whole_advice(run: Callable[..., Ran]) -> None:
    ran = run("spot", *JOB, *KNOWN, "--deadline-h", "20", "--budget-usd", "100", "--json")
    advice = SpotAdvice.make(**ran.json)
    assert {one.policy for one in advice.policies} == set(POLICIES)
    assert all(one.budget_probability is not None for one in advice.policies if not one.reason)
    assert advice.best


def test_a_market_without_data_shows_the_bound_alone(run: Callable[..., Ran]) -> None:
    ran = run("spot", *JOB, *UNKNOWN, "--deadline-h", "20")
    said = " ".join(ran.out.translate(FLAT).split())
    assert ran.code == 0
    assert "no interruption data for this market: bound shown: " in said
    assert "at most" in said
    assert "restart all" not in said


def test_own_history_and_prices_are_read(run: Callable[..., Ran], tmp_path: Path) -> None:
    history, prices = tmp_path / "own.csv", tmp_path / "prices.csv"
    history.write_text(
        "start,stop,revoked\n"
        + "".join(f"2026-11-{day:02d},2026-11-{day:02d} 12:00,1\n" for day in range(1, 13))
        + "2026-11-20,,\n"
    )
    prices.write_text("time,usd_per_h\n2026-11-01,1\n2026-11-02,3\n2026-11-03,2\n")
    ran = run("spot", *JOB, *UNKNOWN, "--history", str(history), "--prices", str(prices),
              "--ceiling-usd", "2.5", "--interval-h", "0.2", "--samples-factor", "1.2",
              "--wait-h", "0.1", "--json")  # fmt: skip
    advice = SpotAdvice.make(**ran.json)
    assert advice.data is not None
    assert "13 machines of your own, 12 revoked" in advice.data.words
    found = {one.policy: one for one in advice.policies}
    assert found["price_ceiling"].cost_usd is not None
    assert found["zones"].cost_usd is not None
    assert "1.20 times the samples" in found["chief_handover"].caveat


def test_what_is_left_of_a_running_job(run: Callable[..., Ran], log: Path) -> None:
    ran = run("running", str(log), *JOB, *KNOWN, "--deadline-h", "20")
    said = " ".join(ran.out.translate(FLAT).split())
    assert said.startswith("Stay on spot: ")
    assert "switch to on demand in" in said
    assert "99,000 of 450,411 steps" in said
    ran = run("running", str(log), *JOB, *KNOWN, "--machines-left", "3", "--json")
    forecast = RunningForecast.make(**ran.json)
    assert forecast.steps_done == 99_000
    assert forecast.switch_by_h is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("spot", *JOB, "--machines", "4 x g4dn.12xlarge", "--region", "moon-1"), "Regions: "),
        (("spot", *JOB, "--machines", "4 x g9.huge"), "g9.huge"),
        (("spot", *JOB, *KNOWN, "--history", "missing.csv"), "cannot be read"),
        (("spot", *JOB, *KNOWN, "--ceiling-usd", "2"), "needs a price history"),
        (("spot", *JOB, *KNOWN, "--interval-h", "9000"), "longer than the job"),
        (("spot", *JOB, *KNOWN, "--samples-factor", "0.5"), "samples to target"),
        (("running", "missing.log", *JOB, *KNOWN), "cannot be read"),
    ],
)
def test_bad_input_says_what_to_do(
    run: Callable[..., Ran], arguments: tuple[str, ...], words: str
) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert words in ran.err


def test_more_machines_than_the_batch_divides_over_are_not_feasible(
    run: Callable[..., Ran],
) -> None:
    ran = run("spot", *JOB, "--machines", "7 x g4dn.12xlarge", "--region", "us-east-1")
    assert ran.code == 3
    assert "the batch must divide over them" in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("start,stop\n", "it has no machine"),
        ("begin,end\n1,2\n", "no column start and stop"),
        ("start,stop\n2026-11-02,2026-11-01\n", "stops 86,400 s before it starts"),
    ],
)
def test_a_history_that_is_none_says_why(
    run: Callable[..., Ran], tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    ran = run("spot", *JOB, *KNOWN, "--history", str(path))
    assert ran.code == 2
    assert words in ran.err
