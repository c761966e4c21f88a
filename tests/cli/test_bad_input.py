"""Bad input: a clear message, no stack trace, the right exit code, an object with --json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import (  # noqa: F401 - fixtures
    advisor_fixture,
    run_fixture,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from command_line import Ran

MODEL = ("--model", "llama-2-7b")
JOB = (*MODEL, "--tokens", "10e9")

# arguments, exit code, words of the message
BAD = {
    "no command": ((), 2, ["COMMAND"]),
    "unknown command": (("teach",), 2, ["teach", "advise"]),
    "no model": (("advise", "--tokens", "1e9"), 2, ["--model"]),
    "no amount": (("advise", *MODEL), 2, ["--tokens", "--epochs"]),
    "two amounts": (("advise", *JOB, "--steps", "5"), 2, ["--steps", "not allowed with"]),
    "unknown option": (("advise", *JOB, "--colour", "red"), 2, ["--colour"]),
    "shortened option": (("advise", *JOB, "--deadline", "3"), 2, ["--deadline"]),
    "negative tokens": (("advise", *MODEL, "--tokens", "-5"), 2, ["tokens", "-5"]),
    "negative tokens, e": (("advise", *MODEL, "--tokens=-1e9"), 2, ["tokens", "-1000000000"]),
    "zero tokens": (("advise", *MODEL, "--tokens", "0"), 2, ["tokens", "0"]),
    "too many tokens": (("advise", *MODEL, "--tokens", "1e30"), 2, ["tokens", "1e+30"]),
    "tokens in words": (("advise", *MODEL, "--tokens", "ten"), 2, ["--tokens", "“ten”", "10 B"]),
    "comma for a point": (("advise", *MODEL, "--tokens", "1,5 B"), 2, ["“1,5 B”", "1.5 M"]),
    "part of a step": (("advise", *MODEL, "--steps", "10.5"), 2, ["steps", "10.5", "whole"]),
    "tokens of images": (("advise", "--model", "resnet-50", "--tokens", "1e9"), 2, ["epochs"]),
    "unknown model": (("advise", "--model", "lama-2-7b", "--steps", "1"), 2,
                      ["unknown model “lama-2-7b”", "llama-2-7b"]),
    "no such file": (("advise", "--model", "./nowhere/config.json", "--steps", "1"), 2,
                     ["no file", "nowhere"]),
    "batch of nothing": (("advise", *JOB, "--global-batch", "0"), 2, ["--global-batch", "above 0"]),
    "part of a batch": (("advise", *JOB, "--global-batch", "1.5"), 2, ["whole number"]),
    "enormous batch": (("advise", *JOB, "--global-batch", "1e308 T"), 2, ["--global-batch"]),
    "sequence too long": (("advise", *JOB, "--seq-len", "1e12"), 2, ["usually trained with 4,096"]),
    "unknown precision": (("advise", *JOB, "--precision", "int8"), 2, ["int8", "bf16"]),
    "unknown tuning": (("advise", *JOB, "--finetune", "magic"), 2, ["magic", "qlora"]),
    "unknown cloud": (("advise", *JOB, "--cloud", "asw"), 2, ["unknown cloud “asw”", "aws"]),
    "unknown region": (("advise", *JOB, "--region", "us-esat-1"), 2,
                       ["unknown region “us-esat-1”", "us-east-1"]),
    "unknown gpu": (("advise", *JOB, "--gpu", "H1000"), 2, ["“H1000”", "H100"]),
    "unknown market": (("advise", *JOB, "--market", "spott"), 2, ["“spott”", "spot"]),
    "negative deadline": (("advise", *JOB, "--deadline-h", "-3"), 2, ["--deadline-h", "-3"]),
    "no deadline": (("advise", *JOB, "--deadline-h", "0"), 2, ["--deadline-h", "above 0"]),
    "deadline in words": (("advise", *JOB, "--deadline-h", "soon"), 2, ["“soon”"]),
    "budget of nothing": (("advise", *JOB, "--budget-usd", "0"), 2, ["--budget-usd"]),
    "data of nowhere": (("advise", *JOB, "--data-gb", "5", "--data-at", "aws:us-esat-1"), 2,
                        ["unknown region “us-esat-1”", "us-east-1"]),
    "data at no place": (("advise", *JOB, "--data-at", "here"), 2, ["“here”", "aws:us-east-1"]),
    "negative data": (("advise", *JOB, "--data-gb", "-1"), 2, ["--data-gb", "-1"]),
    "residency of nowhere": (("advise", *JOB, "--residency", "Atlantis"), 2,
                             ["unknown country “Atlantis”"]),
    "no memory": (("advise", *JOB, "--min-memory-gb", "0"), 2, ["--min-memory-gb", "above 0"]),
    "no ceiling": (("advise", *JOB, "--spot-ceiling-usd", "-1"), 2, ["--spot-ceiling-usd"]),
    "quota of nothing": (("advise", *JOB, "--quota", "/nowhere.json"), 2,
                         ["--quota", "nowhere.json"]),
    "certainty": (("advise", *JOB, "--chance", "1"), 2, ["--chance"]),
    "no chance": (("advise", *JOB, "--chance", "0"), 2, ["chance"]),
    "margin of all": (("advise", *JOB, "--memory-margin", "0.99"), 2, ["memory margin", "0.9"]),
    "negative allowance": (("advise", *JOB, "--retry-allowance", "-1"), 2, ["--retry-allowance"]),
    "too many accelerators": (("advise", *JOB, "--max-accelerators", "30000"), 2,
                              ["most accelerators", "20,000"]),
    "csv into nowhere": (("advise", *JOB, "--csv", "/nowhere/at/all.csv"), 2, ["/nowhere/at"]),
    "csv onto a directory": (("advise", *JOB, "--csv", "/"), 2, ["directory"]),
    "today unknown": (("advise", *JOB, "--current", "4 x p4d.24xlarg"), 2, ["p4d.24xlarge"]),
    "today unreadable": (("advise", *JOB, "--current", "some"), 2, ["“some”", "4 x p4d"]),
    "today too small": (("advise", *JOB, "--current", "1 x g4dn.xlarge"), 3, ["does not run"]),
    "predict on nothing": (("predict", *JOB), 2, ["--machines", "--gpu"]),
    "predict on both": (("predict", *JOB, "--machines", "1 x p4d.24xlarge", "--gpu", "H100",
                         "--accelerators", "8"), 2, ["hardware is not clear"]),
    "predict on half": (("predict", *JOB, "--gpu", "H100"), 2, ["hardware is not clear"]),
    "predict on twelve": (("predict", *JOB, "--gpu", "H100", "--accelerators", "12"), 2,
                          ["multiple of 8"]),
    "predict on millions": (("predict", *JOB, "--gpu", "H100", "--accelerators", "8e6"), 2,
                            ["100,000"]),
    "predict on no gpu": (("predict", *JOB, "--gpu", "H100", "--accelerators", "0"), 2,
                          ["--accelerators", "above 0"]),
    "predict on no number": (("predict", *JOB, "--gpu", "H100", "--accelerators", "nan"), 2,
                             ["--accelerators", "“nan” is not a number"]),
    "predict on unknown": (("predict", *JOB, "--gpu", "Foo 9000", "--accelerators", "8"), 2,
                           ["unknown accelerator “Foo 9000”"]),
    "predict an absurd model": (("predict", "--model", "1e30B", "--tokens", "1e9", "--gpu",
                                 "H100", "--accelerators", "8"), 2, ["unknown model “1e30B”"]),
    "explain no pick": (("advise", *JOB, "--explain", "dearest"), 2, ["dearest", "cheapest"]),
    "predict too small": (("predict", *JOB, "--machines", "1 x g4dn.xlarge"), 3,
                          ["does not run on 1 × g4dn.xlarge"]),
    "catalog of nothing": (("catalog", "--cloud", "lambda", "--gpu", "TPU"), 3, ["no price"]),
    "catalog limit": (("catalog", "--limit", "0"), 2, ["--limit"]),
    "port of words": (("serve", "--port", "http"), 2, ["“http”"]),
    "port too large": (("serve", "--port", "70000"), 2, ["70000", "65535"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_said_and_gives_an_object_for_programs(
    name: str, advisor: Callable[..., Ran]
) -> None:
    arguments, code, words = BAD[name]
    ran = advisor(*arguments)
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith("advisor: ")
    for word in words:
        assert word in ran.err
    if arguments and arguments[0] in ("advise", "predict", "catalog"):
        again = advisor(*arguments, "--json")
        assert again.code == code
        error = again.json["error"]
        assert set(error) == {"kind", "what", "where", "todo"}
        assert error["what"] in again.err
        assert error["kind"].endswith("Error")


def test_an_amount_of_all_kinds_is_needed_to_be_positive(advisor: Callable[..., Ran]) -> None:
    for unit in ("--tokens", "--epochs", "--steps", "--samples"):
        ran = advisor("advise", *MODEL, unit, "-1", "--dataset-samples", "10")
        assert ran.code == 2
        assert unit.strip("-") in ran.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["JSON"]), ("not json", ["JSON"]), ("[]", ["object"]),
        ('{"model_type": "llama"}', ["missing"]),
        ('{"model_type": "unheard-of", "hidden_size": 8}', ["unheard-of"]),
        ('{"hidden_size": NaN}', ["model_type"]),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used_is_refused(
    content: str, words: list[str], advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    ran = advisor("advise", "--model", str(path), "--steps", "1", "--json")
    assert ran.code == 2
    assert any(word.lower() in ran.err.lower() for word in words)
    assert ran.json["error"]["kind"] == "InvalidInputError"


def test_a_deadline_that_nobody_can_meet_says_by_how_much(advisor: Callable[..., Ran]) -> None:
    ran = advisor("advise", *JOB, "--deadline-h", "0.05", "--json")
    assert ran.code == 3
    assert ran.json["error"]["kind"] == "NoFeasiblePlanError"
    todo = ran.json["error"]["todo"].replace("\u00a0", " ")
    assert todo.startswith("Relax one: deadline ")
    hours = todo.split("deadline ")[1].split(" h")[0]
    assert advisor("advise", *JOB, "--deadline-h", hours, "--json").code == 0


def test_a_budget_that_is_too_small_says_by_how_much(advisor: Callable[..., Ran]) -> None:
    ran = advisor("advise", *JOB, "--budget-usd", "1")
    assert ran.code == 3
    usd = ran.err.split("budget $")[-1].split(" ")[0]
    assert advisor("advise", *JOB, "--budget-usd", usd).code == 0


def test_text_of_the_user_cannot_control_the_terminal(advisor: Callable[..., Ran]) -> None:
    ran = advisor("advise", "--model", "\x1b[2Jevil\x07", "--steps", "1")
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "\x07" not in ran.err
    assert "evil" in ran.err


def test_the_object_of_an_error_is_ascii_and_one_line(advisor: Callable[..., Ran]) -> None:
    ran = advisor("advise", "--model", "modèle-“x”", "--steps", "1", "--json")
    assert ran.out.isascii()
    assert ran.out.count("\n") == 1
    assert "modèle-“x”" in json.loads(ran.out)["error"]["what"]


@pytest.mark.parametrize("port", ["http", "0", "-1", "65536", "²", "8501.0", "9" * 50, " "])
def test_a_bad_port_of_the_environment_is_refused(
    port: str, run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", port)
    ran = run("serve")
    assert ran.code == 2
    assert "PORT" in ran.err
    assert "65535" in ran.err


@pytest.fixture
def fails_to_open(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs `advise` on a data directory, without the trained engine."""

    def call(data_dir: Path) -> Ran:
        monkeypatch.setenv("ADVISOR_DATA_DIR", str(data_dir))
        ran = run("advise", *JOB, "--json")
        assert ran.code == 2
        assert ran.json["error"]["kind"] == "StoreError"
        return ran

    return call


def test_a_damaged_database_is_said_and_left_as_it_is(
    fails_to_open: Callable[[Path], Ran], tmp_path: Path
) -> None:
    database = tmp_path / "advisor.db"
    content = b"SQLite format 3\x00" + b"damaged" * 500
    database.write_bytes(content)
    ran = fails_to_open(tmp_path)
    assert "damaged" in ran.err
    assert str(database) in ran.err
    assert database.read_bytes() == content


@pytest.mark.parametrize("below", ["file", "file/deeper"])
def test_a_data_directory_that_cannot_be_made_is_said(
    below: str, fails_to_open: Callable[[Path], Ran], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    assert "ADVISOR_DATA_DIR" in fails_to_open(tmp_path / below).err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="nobody can write into /proc")
def test_a_data_directory_that_cannot_be_written_is_said(
    fails_to_open: Callable[[Path], Ran],
) -> None:
    ran = fails_to_open(Path("/proc"))
    assert "/proc/advisor.db" in ran.err
    assert "ADVISOR_DATA_DIR" in ran.err


def test_a_bad_port_ends_before_anything_is_prepared(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "new"))
    monkeypatch.setenv("PORT", "eight")
    assert run("serve").err == "advisor: PORT: 'eight' is not a port. Give 1 to 65535.\n"
    assert not (tmp_path / "new").exists()
