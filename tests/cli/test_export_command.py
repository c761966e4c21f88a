"""The command ``export``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from command_line import (  # noqa: F401 - fixtures
    advisor_fixture,
    run_fixture,
)

from advisor.advice.exporter import EXPORTERS
from advisor.advice.proposal_files import read_proposal
from advisor.domain import Proposal
from advisor.store import Store
from advisor.testing.store_plans import WORKLOAD, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

PLAN = plan()
JOB = ("--model", "resnet-50", "--epochs", "2", "--cloud", "aws", "--gpu", "T4",
       "--max-machines", "2")  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(Proposal(plan_id=PLAN.id, plan=PLAN, workload=WORKLOAD).to_json())
    return path


def test_the_file_goes_to_standard_output_and_its_use_beside_it(
    run: Callable[..., Ran], file: Path
) -> None:
    ran = run("export", str(file), "--to", "skypilot", "--command", "main.py --lr 1e-4")
    assert ran.code == 0
    task = yaml.safe_load(ran.out)
    assert task["name"] == f"plan-{PLAN.id}"
    assert "main.py --lr 1e-4" in task["run"]
    assert "sky launch" in ran.err


def test_the_file_is_written_where_it_is_wanted(
    run: Callable[..., Ran], file: Path, tmp_path: Path
) -> None:
    target = tmp_path / "job.sbatch"
    ran = run("export", str(file), "--to", "slurm", "-o", str(target), "--json")
    assert ran.json["use"] == f"sbatch {target}"
    assert target.read_text() == ran.json["text"]
    ran = run("export", str(file), "--to", "slurm", "-o", str(tmp_path / "no" / "job"))
    assert (ran.code, ran.out) == (2, "")


def test_without_a_tool_it_says_which_can_take_the_plan(
    run: Callable[..., Ran], file: Path
) -> None:
    ran = run("export", str(file))
    assert all(name in ran.out for name in EXPORTERS)
    ran = run("export", str(file), "--json")
    assert ran.json["plan_id"] == PLAN.id
    assert ran.json["refused"]["skypilot"] == ""


def test_a_saved_plan_is_exported_by_the_beginning_of_its_id(run: Callable[..., Ran]) -> None:
    with Store.open() as store:
        key = store.save_plan(PLAN, WORKLOAD, job="toy · 1,000 samples").id
    ran = run("export", key[:6], "--to", "json")
    whole = json.loads(ran.out)
    assert (whole["plan_id"], whole["job"]) == (PLAN.id, "toy · 1,000 samples")
    assert run("export", "zzz", "--to", "json").code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "no plan is given"),
        (("PLAN", "--model", "bert-large", "--steps", "5"), "both a plan and a job"),
        (("--model", "bert-large"), "amount of training"),
        (("nothing.json",), "No such file"),
        (("PLAN", "--to", "kubectl"), "invalid choice"),
        (("PLAN", "--pick", "fastest"), "one plan"),
        (("PLAN", "--command", "a 'b"), "Close the quote"),
    ],
)
def test_what_is_wrong_is_said(
    run: Callable[..., Ran], file: Path, arguments: tuple[str, ...], says: str
) -> None:
    ran = run("export", *(str(file) if word == "PLAN" else word for word in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_a_job_is_asked_and_its_pick_exported(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    path = tmp_path / "fast.json"
    ran = advisor("export", *JOB, "--pick", "fastest", "--to", "json", "-o", str(path))
    assert ran.code == 0, ran.err
    found = read_proposal(path)
    assert (found.pick, found.plan.cluster.groups[0].accelerator) == ("fastest", "T4")
    assert found.made_on is not None
    assert "2 epochs" in found.job
    assert advisor("export", str(path), "--to", "slurm").code == 0
