"""``--profile``: advice and forecasts calibrated by the user's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command_line import (  # noqa: F401 - fixtures
    advisor_fixture,
    run_fixture,
)
from run_files import PNG, harmful, kineto, megatron, table

from advisor.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

JOB = ("--model", "llama-2-7b", "--tokens", "10e9", "--seq-len", "4096", "--global-batch", "1024")
MACHINES = "4 x p4d.24xlarge"


@pytest.fixture(name="slow")
def slow_fixture(advisor: Callable[..., Ran], tmp_path: Path) -> Path:
    """A table with one run of the job that took 1.5 times as long as predicted."""
    before = advisor("predict", *JOB, "--machines", MACHINES, "--json").json
    step = 1.5 * before["step_time_s"]["value"]
    path = tmp_path / "mine.csv"
    path.write_text(table(f"llama-2-7b,A100-40GB,32,4,{step},1024,4096,bf16"))
    return path


def test_the_forecast_moves_to_what_was_measured(advisor: Callable[..., Ran], slow: Path) -> None:
    plain = advisor("predict", *JOB, "--machines", MACHINES, "--json").json
    assert plain["calibrated"] is None
    assert "own_runs" not in plain
    ran = advisor("predict", *JOB, "--machines", MACHINES, "--profile", str(slow), "--json")
    assert (ran.code, ran.err) == (0, "")
    after = ran.json
    ratio = after["step_time_s"]["value"] / plain["step_time_s"]["value"]
    assert ratio == pytest.approx(1.5, rel=0.1)
    assert after["step_time_s"]["basis"] == "calibrated"
    before = after["calibrated"]["step_time_before_s"]["value"]
    assert before == pytest.approx(plain["step_time_s"]["value"])
    (own,) = after["own_runs"]["used"]
    assert own["measured_s"] == pytest.approx(1.5 * before)


def test_advice_says_before_and_after_and_the_runs(advisor: Callable[..., Ran], slow: Path) -> None:
    options = ("advise", *JOB, "--current", MACHINES, "--profile", str(slow))
    answer = advisor(*options, "--json").json
    assert answer["own_runs"]["used"][0]["model"] == "llama-2-7b"
    today = answer["current"]
    assert today["hours"]["basis"] == "calibrated"
    assert today["calibrated"]["likeness"] == "same job"
    for pick in answer["picks"].values():
        assert pick["plan"]["calibrated"]["hours_before"]["value"] > 0
    said = advisor(*options).out
    for words in ("before ", ", after ", "one of your runs", "Calibrated by your runs",
                  "llama-2-7b on 32 × A100-40GB", "measured step"):  # fmt: skip
        assert words in said


def test_a_trace_names_the_job_and_the_options_fill_the_rest(
    advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(table("llama-2-7b,A100-80GB,8,1,20,64,2048,bf16"))
    answer = advisor("advise", "--tokens", "1e9", "--profile", str(path), "--json").json
    workload = answer["workload"]
    assert workload["model"]["name"] == "llama-2-7b"
    assert workload["model"]["tokens_per_sample"] == 2048
    assert workload["global_batch"] == 64


def test_a_log_is_completed_by_model_and_machines(
    advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "train.log"
    path.write_text(megatron(8.0))
    options = ("advise", "--model", "llama-2-7b", "--tokens", "1e9", "--current",
               "2 x p4d.24xlarge", "--profile", str(path), "--json")  # fmt: skip
    answer = advisor(*options).json
    (own,) = answer["own_runs"]["used"]
    assert (own["accelerator"], own["accelerators"], own["global_batch"]) == ("A100-40GB", 16, 128)
    assert answer["workload"]["global_batch"] == 128


def test_several_files_count_together(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    files = []
    for number, step in enumerate((50, 51, 52)):
        path = tmp_path / f"{number}.csv"
        path.write_text(table(f"llama-2-7b,A100-40GB,32,4,{step},1024,4096,bf16"))
        files += ["--profile", str(path)]
    answer = advisor("predict", *JOB, "--machines", MACHINES, *files, "--json").json
    assert answer["calibrated"]["runs"] == 3
    without = advisor("predict", *JOB, "--machines", MACHINES, "--json").json
    assert answer["step_time_s"]["value"] == pytest.approx(51, rel=0.2)
    assert abs(answer["step_time_s"]["value"] - 51) < abs(without["step_time_s"]["value"] - 51)


def test_a_run_that_cannot_be_used_is_named_beside_the_others(
    advisor: Callable[..., Ran], slow: Path
) -> None:
    # Ten microseconds a step: a slip.
    slow.write_text(slow.read_text() + "gpt2,A100-40GB,8,1,1e-5,64,1024,bf16\n")
    ran = advisor("predict", *JOB, "--machines", MACHINES, "--profile", str(slow))
    assert ran.code == 0
    assert "not used: gpt2: its speed is not possible" in ran.out


def test_runs_are_kept_when_asked_for(advisor: Callable[..., Ran], slow: Path) -> None:
    options = ("predict", *JOB, "--machines", MACHINES, "--profile", str(slow))
    assert advisor(*options).code == 0
    with Store.open() as store:
        assert store.count(origin="user") == 0
    assert advisor(*options, "--save-profiles").code == 0
    with Store.open() as store:
        assert store.profiles(origin="user")["model"].tolist() == ["llama-2-7b"]


@pytest.mark.parametrize(
    ("job", "row", "said"),
    [
        (JOB, "llama-2-7b,A100-40GB,32,4,1e-5,1024,4096,bf16", "no run can be calibrated by"),
        (("--tokens", "1e9"), "nosuchmodelxyz,A100-40GB,32,4,20,1024,4096,bf16", "nosuchmodelxyz"),
    ],
)
def test_runs_that_cannot_be_used_are_not_kept(
    advisor: Callable[..., Ran], tmp_path: Path, job: tuple[str, ...], row: str, said: str
) -> None:
    path = tmp_path / "unknown.csv"
    path.write_text(table(row))
    ran = advisor("advise", *job, "--profile", str(path), "--save-profiles")
    assert ran.code == 2
    assert said in ran.err
    with Store.open() as store:
        assert store.count(origin="user") == 0


@pytest.mark.parametrize(
    "command", [("predict", *JOB, "--machines", MACHINES), ("advise", *JOB)], ids=lambda c: c[0]
)
def test_keeping_nothing_is_refused(advisor: Callable[..., Ran], command: tuple[str, ...]) -> None:
    ran = advisor(*command, "--save-profiles")
    assert ran.code == 2
    assert "--save-profiles: there are no runs to keep. Give them with --profile." in ran.err


BAD: dict[str, tuple[Any, list[str]]] = {
    "nothing in it": (b"", ["file.json"]),
    "a picture": (PNG, ["file.json"]),
    "no batch": (kineto().encode(), ["file.json", "the global batch", "Give --global-batch."]),
    "impossible": (table("llama-2-7b,A100-40GB,32,4,1e-5,64,2048,bf16").encode(),
                   ["no run can be calibrated by", "speed is not possible"]),
    "unknown accelerator": (table("llama-2-7b,A1000,32,4,5,64,2048,bf16").encode(), ["A1000"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_used_ends_with_2(
    name: str, advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    content, words = BAD[name]
    (tmp_path / "file.json").write_bytes(content)
    ran = advisor("advise", "--model", "llama-2-7b", "--tokens", "1e9", "--profile",
                  str(tmp_path / "file.json"), "--json")  # fmt: skip
    assert ran.code == 2
    assert ran.json["error"]["what"]
    for word in words:
        assert word in ran.err


def test_without_a_model_anywhere_it_is_asked_for(
    advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    assert "Give --model" in advisor("advise", "--tokens", "1e9").err
    path = tmp_path / "train.log"
    path.write_text(megatron())
    ran = advisor("advise", "--tokens", "1e9", "--profile", str(path))
    assert ran.code == 2
    assert "does not say the model" in ran.err


def test_a_saved_object_is_never_loaded(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    path, marker = tmp_path / "run.pkl", tmp_path / "marker"
    path.write_bytes(harmful(marker))
    assert advisor("advise", *JOB, "--profile", str(path)).code == 2
    assert not marker.exists()
