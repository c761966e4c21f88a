"""Exports read by the tools themselves, in environments of their own; skipped where there are none.

    python -m venv sky && sky/bin/pip install skypilot
    export ADVISOR_SKYPILOT_PYTHON=sky/bin/python  # and ADVISOR_DSTACK_PYTHON for dstack
    pytest tests/advice/test_real_tools.py

Neither belongs to the project's own environment: each brings a hundred packages.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from advisor.advice.exporter import EXPORTERS, export
from advisor.testing.exports import launch

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.advice.launch import Launch

SAMPLES = {
    "aws": launch(),
    "one machine": launch(count=1, market="on_demand"),
    "gcp": launch("gcp", "a3-highgpu-8g", "H100", region="us-central1"),
    "azure": launch("azure", "Standard_ND96isr_H100_v5", "H100", region="eastus", count=3),
    "attached": launch("gcp", "n1-standard-16+2xT4", "T4", region="us-west1", each=2,
                       market="on_demand"),
}  # fmt: skip
SKYPILOT = """
import json, sys, yaml
import sky
from sky.utils import common_utils, schemas
found = []
for path in sys.argv[1:]:
    config = yaml.safe_load(open(path))
    common_utils.validate_schema(config, schemas.get_task_schema(), "invalid task: ")
    common_utils.validate_schema(config["resources"], schemas.get_resources_schema(), "invalid: ")
    found.append({"name": config["name"], "nodes": config["num_nodes"]})
print(json.dumps(found))
"""
DSTACK = """
import json, sys, yaml
from dstack._internal.core.models.configurations import parse_run_configuration
found = []
for path in sys.argv[1:]:
    task = parse_run_configuration(yaml.safe_load(open(path)))
    found.append({"name": task.name, "nodes": task.nodes})
print(json.dumps(found))
"""


def read_by(variable: str, script: str, paths: list[Path], home: Path) -> list[dict[str, Any]]:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with the tool's own package")
    done = subprocess.run(
        [python, "-c", script, *map(str, paths)], capture_output=True, text=True, check=False,
        env={"HOME": str(home), "PATH": os.defpath}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return told


def written(tool: str, folder: Path) -> dict[Path, Launch]:
    files = {}
    for name, sample in SAMPLES.items():
        if not EXPORTERS[tool]().refusal(sample):
            path = folder / f"{name}.yaml"
            path.write_text(export(tool, sample).text)
            files[path] = sample
    return files


@pytest.mark.parametrize(
    ("tool", "variable", "script", "fewest"),
    [
        ("skypilot", "ADVISOR_SKYPILOT_PYTHON", SKYPILOT, 5),
        ("dstack", "ADVISOR_DSTACK_PYTHON", DSTACK, 4),
    ],
)
def test_the_tool_itself_reads_every_file_and_sees_the_plan(
    tool: str, variable: str, script: str, fewest: int, tmp_path: Path
) -> None:
    files = written(tool, tmp_path)
    assert len(files) >= fewest
    told = read_by(variable, script, list(files), tmp_path)
    wanted = [{"name": sample.name, "nodes": sample.nodes} for sample in files.values()]
    assert told == wanted
