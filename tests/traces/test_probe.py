"""The script that measures a job where it runs."""

from __future__ import annotations

import ast
import getpass
import os
import platform
import subprocess
from pathlib import Path

import pytest
from trace_examples import EXAMPLES, dumped, profiler_trace

from advisor.core.errors import InvalidInputError
from advisor.traces import read
from advisor.traces.guesses import guess
from advisor.traces.probe import probe_script

TORCH = os.environ.get("ADVISOR_TORCH_PYTHON", "")


def test_the_script_is_python_that_needs_torch_only() -> None:
    tree = ast.parse(probe_script(wait=7, warm_up=3, steps=11))
    imported = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert imported == {"json", "os", "re", "statistics", "time", "torch"}
    assert "WAIT, WARM_UP, STEPS = 7, 3, 11" in probe_script(wait=7, warm_up=3, steps=11)


@pytest.mark.parametrize("given", [{"wait": 2}, {"warm_up": 0}, {"steps": 1}, {"steps": 10**6}])
def test_impossible_numbers_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match=r"is not possible.*Give a number from"):
        probe_script(**given)


def test_facts_fill_what_the_trace_leaves_open(tmp_path: Path) -> None:
    (tmp_path / "rank0.facts.json").write_bytes(EXAMPLES["run_facts"])
    (tmp_path / "rank0.trace.json").write_bytes(dumped(profiler_trace()))
    job = read(tmp_path)
    assert job.format == "kineto_chrome_trace"
    assert job.parts is not None
    assert (job.model, job.global_batch, job.precision) == ("My-Net", 32, "bf16")
    assert guess(job).model is None


@pytest.mark.skipif(not TORCH, reason="ADVISOR_TORCH_PYTHON names no Python with PyTorch")
def test_it_measures_a_real_run(tmp_path: Path) -> None:
    script = tmp_path / "advisor_probe.py"
    script.write_text(probe_script(wait=6, warm_up=2, steps=5), encoding="utf-8")
    subprocess.run([TORCH, str(script)], cwd=tmp_path, check=True, timeout=300)
    folder = tmp_path / "advisor-probe"
    assert sorted(path.name for path in folder.iterdir()) == [
        "rank0.facts.json",
        "rank0.trace.json",
    ]
    job = read(folder)
    assert job.step_time_s is not None
    assert 1e-5 < job.step_time_s < 1
    assert job.gpus in {0, 1}
    assert job.model == "tiny network"
    assert job.global_batch == 64
    assert job.steps == 5
    assert any(row.shapes[-1] == (512, 256) or (64, 256) in row.shapes for row in job.operators)
    text = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    for personal in (str(tmp_path), f'"{platform.node()}"', str(Path.home()) + "/"):
        assert personal not in text
    assert f'"{getpass.getuser()}"' not in text
