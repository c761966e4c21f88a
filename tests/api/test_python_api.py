"""`advisor.advise`, `advisor.predict`, `advisor.read_trace`: the answers of the command line."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import advisor
from advisor.advice import opened as of_process
from advisor.catalog.own import DISCOUNTS
from advisor.cli import commands, main
from advisor.domain import Provenance
from advisor.testing.own_lists import AWS_DISCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.advice import Engine
    from advisor.catalog import Catalog

JOB: dict[str, Any] = {
    "model": "llama-2-7b", "tokens": 10e9, "sequence_length": 4096, "global_batch": 1024,
}  # fmt: skip
OPTIONS = ("--model", "llama-2-7b", "--tokens", "10e9", "--seq-len", "4096", "--global-batch",
           "1024")  # fmt: skip
RUNS = b"""model,gpu_name,gpus,nodes,step_time_s,global_batch,sequence_length,precision
llama-2-7b,A100-40GB,32,4,90,1024,4096,bf16
"""


@pytest.fixture(name="command")
def command_fixture(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """The JSON that a command prints, with the engine that is trained already."""

    class Opened:
        @staticmethod
        def open(catalog: Catalog | None = None) -> Engine:
            del catalog
            return engine

    monkeypatch.setattr(commands, "Engine", Opened)

    def call(*arguments: str) -> Any:
        assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_advice_is_that_of_the_command(
    engine: Engine, command: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(RUNS)
    said = command(
        "advise", *OPTIONS, "--deadline-h", "96", "--budget-usd", "90k", "--cloud", "aws,gcp",
        "--region", "US", "--gpu", "A100-40GB,Hopper", "--market", "on-demand",
        "--max-accelerators", "64", "--current", "4 x p4d.24xlarge", "--profile", str(path),
    )  # fmt: skip
    answer = advisor.advise(
        **JOB, deadline_h=96, budget_usd="90k", clouds="aws,gcp", regions=["US"],
        gpus=["A100-40GB", "Hopper"], markets="on-demand", max_accelerators=64,
        current="4 x p4d.24xlarge", profiles=[path], engine=engine,
    )  # fmt: skip
    assert answer.to_dict() == said
    assert said["own_runs"]["used"]
    stated = json.loads(answer.to_json())
    assert {k: v for k, v in stated.items() if k not in ("kind", "version")} == said


def test_a_fine_tune_with_few_words_is_that_of_the_command(
    engine: Engine, command: Callable[..., Any]
) -> None:
    options = ("--model", "llama-2-7b", "--epochs", "3", "--dataset-samples", "50k")
    said = command("advise", *options, "--finetune", "qlora")
    answer = advisor.advise(
        "llama-2-7b", epochs=3, dataset_samples="50 k", finetune="qlora", engine=engine
    )
    assert answer.to_dict() == said
    assert "own_runs" not in said


def test_forecasts_are_those_of_the_command(engine: Engine, command: Callable[..., Any]) -> None:
    said = command("predict", *OPTIONS, "--machines", "8 x p5.48xlarge")
    answer = advisor.predict(**JOB, machines="8 x p5.48xlarge", engine=engine)
    assert answer.to_dict() == said
    said = command("predict", *OPTIONS, "--gpu", "A100-80GB", "--accelerators", "32")
    answer = advisor.predict(**JOB, gpu="A100-80GB", accelerators=32, engine=engine)
    assert answer.to_dict() == said


def test_the_frame_has_a_row_per_plan_and_units_in_its_names(engine: Engine) -> None:
    answer = advisor.advise(**JOB, gpus="H100", engine=engine)
    frame = answer.to_frame()
    plans = {plan.id for plan in answer.pareto} | {p.plan.id for p in answer.picks.values()}
    assert set(frame["plan_id"]) == plans
    assert frame["cost_usd"].is_monotonic_increasing
    cheapest = answer.picks["cheapest"].plan
    first = frame[frame["plan_id"] == cheapest.id].iloc[0]
    assert "cheapest" in first["pick"]
    assert first["cost_usd"] == pytest.approx(cheapest.cost_usd.value, abs=0.01)
    assert first["hours"] == pytest.approx(cheapest.hours.value, abs=0.001)


def test_own_runs_are_given_as_path_bytes_file_trace_or_profile(
    engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(RUNS)
    profile = advisor.Profile(
        model="llama-2-7b", family="language", accelerator="A100-40GB", accelerators=32, nodes=4,
        step_time_s=90, global_batch=1024, sample_size=4096, precision="bf16",
        provenance=Provenance(source="mine"),
    )  # fmt: skip
    given: list[Any] = [path, RUNS, io.BytesIO(RUNS), advisor.read_trace(path), profile]
    found = [
        advisor.predict(**JOB, machines="4 x p4d.24xlarge", profiles=[one], engine=engine)
        for one in given
    ]
    plain = advisor.predict(**JOB, machines="4 x p4d.24xlarge", engine=engine)
    for one in found:
        assert one.step_time_s.basis == "calibrated"
        assert one.step_time_s.value == pytest.approx(found[0].step_time_s.value)
        assert abs(one.step_time_s.value - 90) < abs(plain.step_time_s.value - 90)


def test_a_run_names_the_job(engine: Engine) -> None:
    answer = advisor.advise(tokens="1 B", profiles=[RUNS], gpus="A100-40GB", engine=engine)
    assert answer.workload.model.name == "llama-2-7b"
    assert answer.workload.global_batch == 1024


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokens": None}, ["exactly one of tokens, epochs, steps, samples", "none"]),
        ({"epochs": 3}, ["tokens and epochs"]),
        ({"resolution": 224}, ["sequence_length and resolution"]),
        ({"sequence_length": 0}, ["size of a sample"]),
        ({"tokens": "plenty"}, ["tokens", "not a number"]),
        ({"tokens": [1]}, ["tokens", "not a number"]),
        ({"global_batch": 10.5}, ["global_batch", "whole"]),
        ({"deadline_h": -1}, ["deadline_h", "above 0"]),
        ({"finetune": "a lot"}, ["finetune", "full, lora or qlora"]),
        ({"precision": "fp7"}, ["fp7"]),
        ({"model": "no such thing at all"}, ["no such thing at all"]),
        ({"model": ""}, ["model"]),
        ({"clouds": "awz"}, ["awz", "aws"]),
        ({"clouds": [3]}, ["clouds"]),
        ({"gpus": "H1000"}, ["H1000"]),
        ({"current": "some"}, ["number of machines"]),
        ({"profiles": [b"\x80\x04pickle"]}, ["pickle"]),
        ({"max_accelerators": 0}, ["max_accelerators"]),
        ({"memory_margin": 2.0}, ["memory margin"]),
        ({"chance": 1.5}, ["chance"]),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_said_with_its_name(
    engine: Engine, changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(advisor.InvalidInputError) as error:
        advisor.advise(**(JOB | changes), engine=engine)
    for word in words:
        assert word in str(error.value)


def test_hardware_has_to_be_said_once(engine: Engine) -> None:
    for hardware in ({}, {"gpu": "H100"}, {"machines": "1 x p5.48xlarge", "gpu": "H100",
                                           "accelerators": 8}):  # fmt: skip
        with pytest.raises(advisor.InvalidInputError, match="not clear"):
            advisor.predict(**JOB, **hardware, engine=engine)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accelerators": 0}, "accelerators: 0 is not a number above 0"),
        ({"accelerators": float("nan")}, "accelerators: nan is not a number"),
        ({"gpu": "Foo 9000"}, "unknown accelerator “Foo 9000”"),
        ({"model": "1e30B"}, "unknown model “1e30B”"),
        ({"tokens": float("nan")}, "tokens: nan is not a number"),
        ({"tokens": 1e30}, "tokens: a number above 0"),
    ],
    ids=str,
)
def test_what_cannot_be_predicted_gives_the_reason_and_no_number(
    engine: Engine, changes: dict[str, Any], words: str
) -> None:
    asked = JOB | {"gpu": "H100", "accelerators": 8} | changes
    with pytest.raises(advisor.AdvisorError, match=words):
        advisor.predict(**asked, engine=engine)


def test_only_picks_can_be_explained(engine: Engine) -> None:
    with pytest.raises(advisor.InvalidInputError, match=r"“dearest” is no pick.*cheapest"):
        advisor.advise(**JOB, explain="dearest", engine=engine)


def test_what_is_not_feasible_is_an_advisor_error(engine: Engine) -> None:
    with pytest.raises(advisor.NoFeasiblePlanError):
        advisor.advise(**JOB, deadline_h=0.01, engine=engine)
    assert issubclass(advisor.NoFeasiblePlanError, advisor.AdvisorError)


def test_the_engine_is_opened_once_per_process(
    engine_data_dir: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    monkeypatch.setattr(of_process, "_opened", {})
    opened = []
    real = advisor.Engine.open
    monkeypatch.setattr(advisor.Engine, "open", lambda catalog: opened.append(1) or real(catalog))
    first = advisor.predict(**JOB, gpu="H100", accelerators=8)
    second = advisor.predict(**JOB, gpu="H100", accelerators=8)
    assert first == second == advisor.predict(**JOB, gpu="H100", accelerators=8, engine=engine)
    advisor.spot("ResNet-50, 1 epoch, batch 256", machines="1 x g4dn.12xlarge")
    assert opened == [1]


def test_changed_prices_are_noticed_at_the_next_question(
    engine_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_process, "_opened", {})
    limits = {"clouds": "aws", "markets": "on-demand", "gpus": "H100"}
    before = advisor.advise(**JOB, **limits).picks["cheapest"].plan
    (engine_copy / DISCOUNTS.file).write_text(AWS_DISCOUNT)
    after = advisor.advise(**JOB, **limits).picks["cheapest"].plan
    assert after.offer.usd_per_h == pytest.approx(0.88 * before.offer.usd_per_h)


def test_importing_is_fast_and_loads_neither_the_engine_nor_the_user_interface() -> None:
    code = (
        "import sys, advisor; "
        "heavy = {'numpy', 'pandas', 'sklearn', 'streamlit', 'sqlalchemy'} & set(sys.modules); "
        "assert not heavy, heavy; advisor.advise; assert 'streamlit' not in sys.modules; "
        "print(advisor.__version__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, advisor.__version__), done.stderr


def test_the_types_are_of_what_there_is() -> None:
    stub = ast.parse(Path(str(advisor.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    named = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom)
             for alias in node.names}  # fmt: skip
    assert named | {"__version__"} == set(advisor.__all__)
    assert set(advisor.__all__) <= set(dir(advisor))
    for name in advisor.__all__:
        assert getattr(advisor, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        advisor.nothing  # type: ignore[attr-defined]  # noqa: B018
