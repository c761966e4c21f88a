"""What every export of a plan must satisfy.

A test module holds a subclass, with fixtures ``exporter`` and ``launch``::

    class TestExporters(ExporterContract):
        @pytest.fixture(params=list(EXPORTERS))
        def exporter(self, request):
            return request.param
"""

# ruff: noqa: D102 - the names of the tests are sentences
from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from advisor.advice.exporter import EXPORTERS, Exported, export
from advisor.advice.launch import Launch
from advisor.core.errors import InvalidInputError
from advisor.domain import Cluster, Layout, Plan, Proposal, Workload
from advisor.testing.store_plans import WORKLOAD, plan

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE: Final = (
    "train.py",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "ADVISOR_END",
    "${aws_instance.training[0].id}",
    "%{ if true }",
    "{{ jinja }}",
    "- a: b",
    "# no comment",
    "ünï→",
)
HOSTILE_NAME: Final = 'model\ntouch pwned\n"; touch pwned #\u2028\u202e${x}\x00'
STUBS: Final = ("torchrun", "srun", "scontrol", "aws")


def launch(
    cloud: str = "aws",
    machine: str = "p4d.24xlarge",
    accelerator: str = "A100-40GB",
    *,
    region: str = "us-east-1",
    count: int = 2,
    each: float = 8,
    market: str = "spot",
    vendor: str = "NVIDIA",
    layout: Layout | None = None,
    **job: Any,
) -> Launch:
    """Return a launch of given machines whose layout and batch agree."""
    before = plan(count)
    group = before.cluster.groups[0].model_copy(
        update={"cloud": cloud, "instance_type": machine, "region": region,
                "accelerator": accelerator, "accelerators_per_node": each}
    )  # fmt: skip
    offer = before.offer.model_copy(
        update={"cloud": cloud, "instance_type": machine, "region": region, "market": market}
    )
    sits = layout or Layout(data_parallel=max(1, int(each * count)), micro_batch=2, accumulation=4)
    made: Plan = before.model_copy(
        update={"cluster": Cluster(groups=(group,)), "offer": offer, "layout": sits}
    )
    batch = sits.data_parallel * sits.micro_batch * sits.accumulation
    workload: Workload = WORKLOAD.model_copy(update={"global_batch": batch} | job)
    return Launch(Proposal(plan_id=made.id, plan=made, workload=workload), vendor)


def parsed(exported: Exported) -> Any:
    """Return the file as its language understands it; shell scripts are only checked."""
    if exported.language == "yaml":
        return yaml.safe_load(exported.text)
    if exported.language == "json":
        return json.loads(exported.text)
    if exported.language == "csv":
        return list(csv.DictReader(io.StringIO(exported.text)))
    if exported.language == "hcl":
        hcl2 = pytest.importorskip("hcl2")
        return hcl2.loads(exported.text)
    checked = subprocess.run(  # noqa: S603 - a syntax check of our own text
        [_bash(), "-n"], input=exported.text, text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    return exported.text


def run_with_stubs(script: str, folder: Path, arguments: tuple[str, ...] = ()) -> list[list[str]]:
    """Run a script where every tool is a stub; return the words that each was started with."""
    for name in STUBS:
        stub = folder / "bin" / name
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(
            f'#!/bin/bash\nprintf "%s\\0" {name} "$@" >> "$CALLS"\nprintf "\\n" >> "$CALLS"\n'
            'echo "stub"\n'
        )
        stub.chmod(0o755)
    given = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.defpath}", "CALLS": str(folder / "calls"),
        "NODE_RANK": "1", "MASTER_ADDR": "10.0.0.1", "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_JOB_ID": "7", "SKYPILOT_NODE_RANK": "1", "SKYPILOT_NODE_IPS": "10.0.0.1",
        "DSTACK_NODE_RANK": "1", "DSTACK_MASTER_NODE_IP": "10.0.0.1", "JOB_COMPLETION_INDEX": "1",
        "IMAGE_ID": "ami-1", "SUBNET_ID": "subnet-1", "KEY_NAME": "key",
    }  # fmt: skip
    done = subprocess.run(  # noqa: S603 - a script of ours, with stubs for all it starts
        [_bash(), "-s", "--", *arguments], input=script, text=True, cwd=folder, env=given,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    calls = folder / "calls"
    if not calls.exists():
        return []
    return [line.rstrip("\0").split("\0") for line in calls.read_text().splitlines()]


def scripts_of(exported: Exported) -> list[str]:
    """Return what a shell runs of a file."""
    if exported.language == "bash":
        return [exported.text]
    if exported.language != "yaml":
        return []
    document = parsed(exported)
    if document.get("kind") == "JobSet":
        pod = document["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        return [pod["containers"][0]["command"][2]]
    return [text for text in (document.get("run"), *document.get("commands", [])) if text]


def _bash() -> str:
    found = shutil.which("bash")
    if found is None:
        pytest.skip("there is no bash to check scripts with")
    return found


class ExporterContract:
    """Invariants of one export, the fixture ``exporter``, for every sample ``launch``."""

    def test_it_says_what_it_is_called_and_how_its_file_is_used(self, exporter: str) -> None:
        kind = EXPORTERS[exporter]
        assert kind.label
        assert "{file}" in kind.use
        assert re.fullmatch(r"[a-z.]+", kind.suffix)

    def test_a_plan_it_cannot_take_is_refused_with_a_reason(
        self, exporter: str, launch: Launch
    ) -> None:
        refused = EXPORTERS[exporter]().refusal(launch)
        if refused:
            assert refused.endswith(".")
            with pytest.raises(InvalidInputError, match=re.escape(refused)):
                export(exporter, launch)

    def test_the_file_parses_and_holds_the_id_of_its_plan(
        self, exporter: str, launch: Launch
    ) -> None:
        exported = _exported(exporter, launch)
        assert launch.plan.id in exported.text
        assert launch.plan.id in exported.file_name
        assert exported.file_name in exported.use
        assert parsed(exported)

    def test_the_file_is_the_same_byte_for_byte(self, exporter: str, launch: Launch) -> None:
        assert _exported(exporter, launch) == _exported(exporter, launch)

    def test_hostile_names_and_arguments_stay_what_they_are(
        self, exporter: str, launch: Launch, tmp_path: Path
    ) -> None:
        model = launch.workload.model.model_copy(update={"name": HOSTILE_NAME})
        workload = launch.workload.model_copy(update={"model": model})
        proposal = launch.proposal.model_copy(update={"workload": workload})
        hostile = dataclasses.replace(launch, proposal=proposal, command=HOSTILE)
        exported = _exported(exporter, hostile)
        assert parsed(exported)
        for script in scripts_of(exported):
            for call in run_with_stubs(script, tmp_path):
                if "train.py" in call:
                    start = call.index("train.py")
                    assert tuple(call[start : start + len(HOSTILE)]) == HOSTILE
        assert not list(tmp_path.rglob("pwned"))


def _exported(exporter: str, launch: Launch) -> Exported:
    refused = EXPORTERS[exporter]().refusal(launch)
    if refused:
        pytest.skip(refused)
    return export(exporter, launch)
