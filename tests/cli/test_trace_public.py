"""All public traces through the command ``trace``, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from command_line import run_fixture  # noqa: F401 - fixture
from run_files import MAIN_KEYS

from advisor.testing import manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from command_line import Ran

pytestmark = pytest.mark.reference

ROOT: Final = Path(__file__).resolve().parents[2]
ROWS: Final = manifest.rows()
# A process takes seconds to start: a file, an archive, and a file that is refused.
AS_PROCESS: Final = (
    "torchtitan/llama2_7b_24xPVC.log", "kineto/dlrm_8workers.tar.gz", "broken/truncated.json",
)  # fmt: skip
PAIR: Final = "kineto/multiworker_2of128"


@pytest.mark.parametrize("name", [name for name in ROWS if name not in manifest.REFUSED])
def test_a_public_file_gives_one_object_of_right_answers(
    name: str, run: Callable[..., Ran], reference: Path
) -> None:
    ran = run("trace", str(manifest.path_of(reference, name)), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == MAIN_KEYS
    manifest.check(ran.json, ROWS, name)


@pytest.mark.parametrize("name", sorted(set(manifest.REFUSED) & set(ROWS)))
def test_a_public_file_that_cannot_be_read_ends_with_2_and_says_why(
    name: str, run: Callable[..., Ran], reference: Path
) -> None:
    ran = run("trace", str(manifest.path_of(reference, name)), "--json")
    assert ran.code == 2
    assert manifest.REFUSED[name] in ran.json["error"]["what"]
    assert ran.json["error"]["todo"]


@pytest.mark.parametrize("name", [name for name in AS_PROCESS if name in ROWS])
def test_a_process_of_its_own_says_the_same(name: str, reference: Path, tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "advisor", "trace", manifest.path_of(reference, name), "--json"],
        cwd=ROOT, env=os.environ | {"ADVISOR_DATA_DIR": str(tmp_path)}, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    said = json.loads(process.stdout)
    if name in manifest.REFUSED:
        assert process.returncode == 2
        assert manifest.REFUSED[name] in said["error"]["what"]
        assert b"Traceback" not in process.stderr
    else:
        assert (process.returncode, process.stderr) == (0, b"")
        manifest.check(said, ROWS, name)


def test_the_workers_of_a_public_job_are_one_object_however_they_come(
    run: Callable[..., Ran], reference: Path, tmp_path: Path
) -> None:
    folder = manifest.path_of(reference, PAIR)
    said = run("trace", str(folder), "--json").json
    assert list(said) == MAIN_KEYS
    assert said["gpus"] == 128
    assert said["step_time_s"] == pytest.approx(0.630512, rel=0.05)  # of the slower rank
    assert said["comm_share"] == pytest.approx((0.322 + 0.306) / 2, abs=0.01)
    with zipfile.ZipFile(tmp_path / "job.zip", "w") as zipped:
        for file in folder.iterdir():
            zipped.write(file, f"job/{file.name}")
    with tarfile.open(tmp_path / "job.tar.gz", "w:gz") as tar:
        tar.add(folder, "job")
    for packed in ("job.zip", "job.tar.gz"):
        ran = run("trace", str(tmp_path / packed), "--json")
        assert ran.json | {"format": said["format"]} == said


def test_an_unpacked_public_archive_gives_what_the_archive_gives(
    run: Callable[..., Ran], reference: Path, tmp_path: Path
) -> None:
    archive = manifest.path_of(reference, "kineto/dlrm_8workers.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    said = run("trace", str(tmp_path), "--json").json
    assert (said["gpus"], said["format"]) == (8, "kineto_chrome_trace")
    assert said | {"format": ""} == run("trace", str(archive), "--json").json | {"format": ""}


def test_the_files_of_a_public_run_complete_each_other(
    run: Callable[..., Ran], reference: Path
) -> None:
    said = run("trace", str(manifest.path_of(reference, "wandb")), "--json").json
    assert said["step_time_s"] == pytest.approx(4.469966, rel=0.02)
    assert said["gpu_name"] == "NVIDIA A100-SXM4-80GB"
    said = run("trace", str(manifest.path_of(reference, "hf_trainer/whisper_large")), "--json").json
    assert said["step_time_s"] == pytest.approx(13.7531, rel=0.02)


def test_public_logs_of_different_runs_stay_apart(run: Callable[..., Ran], reference: Path) -> None:
    said = run("trace", str(manifest.path_of(reference, "mlperf")), "--json").json
    assert len(said) == sum(name.startswith("mlperf/") for name in ROWS)
    assert all(list(one) == MAIN_KEYS for one in said)
