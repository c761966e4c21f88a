"""Spot machines and running jobs through the Python API."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import advisor
from advisor.advice import Engine

JOB = "ResNet-50, 90 epochs, batch 256"
MACHINES = "4 x g4dn.12xlarge"


def test_policies_of_a_plan(engine: Engine) -> None:
    found = advisor.spot(JOB, machines=MACHINES, region="us-east-1", deadline_h=20, engine=engine)
    assert found.best in {one.policy for one in found.policies}
    assert found.data is not None
    assert found.data.year == 2025


def test_a_running_job(engine: Engine, tmp_path: Path) -> None:
    begun = dt.datetime(2026, 12, 3, tzinfo=dt.UTC)
    log = tmp_path / "train.log"
    log.write_text(
        "\n".join(
            f"{begun + dt.timedelta(seconds=100 * n):%Y-%m-%d %H:%M:%S} step {1000 * n}"
            for n in range(1, 50)
        )
    )
    found = advisor.running(
        log, JOB, machines=MACHINES, region="us-east-1", deadline_h=20, engine=engine
    )
    assert found.steps_done == 49_000
    assert found.advice
    on_demand = advisor.running(
        log, JOB, machines=MACHINES, region="us-east-1", market="on-demand", engine=engine
    )
    assert on_demand.advice == "There is no deadline."


def test_what_cannot_be_used_is_said(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(advisor.InvalidInputError, match="cannot be read"):
        advisor.spot(JOB, machines=MACHINES, history=tmp_path / "none.csv", engine=engine)
    empty = tmp_path / "empty.log"
    empty.write_text("")
    with pytest.raises(advisor.TraceError, match="0 lines"):
        advisor.running(empty, JOB, machines=MACHINES, engine=engine)
    log = tmp_path / "some.log"
    log.write_text("step,elapsed_s\n1,1\n2,2\n3,3\n")
    with pytest.raises(advisor.InvalidInputError, match="no market"):
        advisor.running(log, JOB, machines=MACHINES, market="moon", engine=engine)
