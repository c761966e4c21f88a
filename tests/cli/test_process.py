"""The command line as a process of its own: what only shows outside of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.advice import Engine

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, data_dir: Path, encoding: str = "utf-8") -> subprocess.Popen[bytes]:
    """Start the command line with its own data directory."""
    variables = {"ADVISOR_DATA_DIR": str(data_dir), "PYTHONIOENCODING": encoding}
    return subprocess.Popen(
        [sys.executable, "-m", "advisor", *arguments], cwd=ROOT, env=os.environ | variables,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_the_answer_is_json_on_standard_output(engine: Engine, engine_data_dir: Path) -> None:
    arguments = ("advise", "--model", "resnet-50", "--epochs", "1", "--json")
    with start(*arguments, data_dir=engine_data_dir) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    answer = json.loads(out)
    assert answer["catalog"]["hash"] == engine.catalog.hash
    assert answer["predictor"]["data_hash"] == engine.predictor.data_hash


def test_a_terminal_of_ascii_gets_its_answer_and_the_exit_code(
    engine: Engine, engine_data_dir: Path
) -> None:
    assert engine.runs
    arguments = (
        "predict",
        "--model",
        "resnet-50",
        "--epochs",
        "1",
        "--machines",
        "1 x p3.16xlarge",
    )
    with start(*arguments, data_dir=engine_data_dir, encoding="ascii") as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    assert b"training, h" in out
    assert out.isascii()


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    with start("catalog", "--json", data_dir=tmp_path) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
        code = process.wait(timeout=60)
    assert (code, err) == (0, b"")
