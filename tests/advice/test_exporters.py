"""Plans as files of other tools: what stands in each."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from advisor.advice.exporter import EXPORTERS, export, launch_of, possible
from advisor.advice.launch import Launch
from advisor.advice.quoting import words_of
from advisor.catalog import load
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Layout, Plan
from advisor.testing.exports import (
    ExporterContract,
    launch,
    parsed,
    run_with_stubs,
    scripts_of,
)

if TYPE_CHECKING:
    from pathlib import Path

BIG = Layout(
    data_parallel=2, tensor_parallel=8, pipeline_parallel=1, micro_batch=1, accumulation=8,
    zero_stage=1, recompute="selective",
)  # fmt: skip
SAMPLES = {
    "two spot machines of AWS": launch(),
    "one machine of AWS": launch(count=1, market="on_demand"),
    "tensor parallel": launch(layout=BIG),
    "FSDP": launch(layout=Layout(data_parallel=16, zero_stage=3, recompute="full")),
    "sharded gradients": launch(layout=Layout(data_parallel=16, zero_stage=2)),
    "GCP": launch("gcp", "a3-highgpu-8g", "H100", region="us-central1"),
    "a host of GCP with attached GPUs": launch(
        "gcp", "n1-standard-16+2xT4", "T4", region="us-west1", each=2, market="on_demand"
    ),
    "Azure": launch("azure", "Standard_ND96isr_H100_v5", "H100", region="eastus", count=3),
    "own machines": launch("own", "our box/1; $(x)", "A100-80GB", region='la "b"', count=1),
    "a TPU": launch("gcp", "tpu-v4-8", "TPU-v4", region="us-central2", each=4, vendor="Google"),
    "Trainium": launch(machine="trn1.32xlarge", accelerator="Trainium", each=16, vendor="AWS"),
    "a share of a GPU": launch(machine="g6f.large", accelerator="L4", count=1, each=0.125),
    "AMD": launch("azure", "Standard_ND96isr_MI300X_v5", "MI300X", vendor="AMD"),
    "a small cloud, reserved": launch("lambda", "8x-A100", "A100-40GB", market="reserved_1y"),
}


class TestExporters(ExporterContract):
    @pytest.fixture(params=list(EXPORTERS))
    def exporter(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture(params=list(SAMPLES))
    def launch(self, request: pytest.FixtureRequest) -> Launch:
        return SAMPLES[request.param]


def document(name: str, given: Launch) -> Any:
    return parsed(export(name, given))


def test_every_named_tool_has_an_exporter() -> None:
    wanted = {"skypilot", "dstack", "slurm", "jobset", "terraform", "aws_cli", "deepspeed",
              "megatron", "fsdp", "accelerate", "csv", "json"}  # fmt: skip
    assert set(EXPORTERS) >= wanted


def test_an_unknown_tool_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="skypilot"):
        export("sky", SAMPLES["GCP"])


def test_what_a_tool_cannot_run_is_said_and_not_written() -> None:
    reasons = possible(SAMPLES["own machines"])
    assert "own" in reasons["aws_cli"]
    assert "own" in reasons["skypilot"]
    assert reasons["slurm"] == ""
    assert "tensor" in possible(SAMPLES["tensor parallel"])["deepspeed"]
    assert possible(SAMPLES["a TPU"])["csv"] == ""
    with pytest.raises(InvalidInputError, match="not of AWS"):
        export("aws_cli", SAMPLES["GCP"])


def test_skypilot_asks_for_these_machines_in_this_market() -> None:
    task = document("skypilot", SAMPLES["two spot machines of AWS"])
    assert task["num_nodes"] == 2
    assert task["resources"]["infra"] == "aws/us-east-1"
    assert task["resources"]["instance_type"] == "p4d.24xlarge"
    assert task["resources"]["use_spot"] is True
    attached = document("skypilot", SAMPLES["a host of GCP with attached GPUs"])
    assert attached["resources"]["instance_type"] == "n1-standard-16"
    assert attached["resources"]["accelerators"] == {"T4": 2}
    assert attached["resources"]["use_spot"] is False


def test_dstack_asks_for_these_machines_in_this_market() -> None:
    task = document("dstack", SAMPLES["Azure"])
    assert task["nodes"] == 3
    assert task["backends"] == ["azure"]
    assert task["regions"] == ["eastus"]
    assert task["instance_types"] == ["Standard_ND96isr_H100_v5"]
    assert task["spot_policy"] == "spot"


def test_slurm_starts_one_torchrun_on_every_machine(tmp_path: Path) -> None:
    exported = export("slurm", SAMPLES["two spot machines of AWS"])
    lines = exported.text.splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    directives = [line for line in lines if line.startswith("#SBATCH")]
    assert lines[1 : 1 + len(directives)] == directives  # Slurm reads none after the first command
    assert "#SBATCH --nodes=2" in directives
    assert "#SBATCH --gpus-per-node=8" in directives
    assert "#SBATCH --time=0-19:30:00" in directives  # 1.5 × 13 h
    (start,) = [call for call in run_with_stubs(exported.text, tmp_path) if call[0] == "srun"]
    assert start[1:4] == ["torchrun", "--nnodes=2", "--nproc-per-node=8"]
    assert "--rdzv-endpoint=stub:29500" in start


def test_a_jobset_has_a_pod_per_machine_that_finds_the_first() -> None:
    given = SAMPLES["two spot machines of AWS"]
    jobset = document("jobset", given)
    job = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert (job["parallelism"], job["completions"], job["completionMode"]) == (2, 2, "Indexed")
    pod = job["template"]["spec"]
    assert pod["nodeSelector"]["node.kubernetes.io/instance-type"] == "p4d.24xlarge"
    (container,) = pod["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 8}
    name = jobset["metadata"]["name"]
    assert f"--master-addr={name}-workers-0-0.{name}" in container["command"][2]
    amd = document("jobset", SAMPLES["AMD"])["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert amd["template"]["spec"]["containers"][0]["resources"]["limits"] == {"amd.com/gpu": 8}


@pytest.mark.parametrize(
    ("sample", "resource", "size"),
    [
        ("two spot machines of AWS", "aws_instance", "instance_type"),
        ("GCP", "google_compute_instance", "machine_type"),
        ("Azure", "azurerm_linux_virtual_machine", "size"),
    ],
)
def test_terraform_makes_the_machines_and_tags_them_with_the_plan(
    sample: str, resource: str, size: str
) -> None:
    given = SAMPLES[sample]
    text = str(document("terraform", given))
    assert f"'{resource}'" in text or f'"{resource}"' in text
    found = export("terraform", given).text
    assert f'"{given.group.instance_type}"' in found
    assert size in found
    assert f"= {given.nodes}\n" in found
    assert f'advisor-plan = "{given.plan.id}"' in found


def test_the_aws_script_starts_waits_and_says_what_to_run(tmp_path: Path) -> None:
    exported = export("aws_cli", SAMPLES["two spot machines of AWS"])
    calls = run_with_stubs(exported.text, tmp_path)
    assert [call[2] for call in calls] == [
        "create-placement-group", "run-instances", "wait", "describe-instances",
    ]  # fmt: skip
    run = calls[1]
    assert run[run.index("--count") + 1] == "2"
    assert run[run.index("--instance-type") + 1] == "p4d.24xlarge"
    assert run[run.index("--instance-market-options") + 1] == "MarketType=spot"
    assert run[run.index("--image-id") + 1] == "ami-1"
    assert len(run_with_stubs(export("aws_cli", SAMPLES["one machine of AWS"]).text,
                              tmp_path)) == len(calls) + 3  # fmt: skip


def test_machines_without_a_gpu_are_made_and_their_start_is_left_to_their_vendor(
    tmp_path: Path,
) -> None:
    given = SAMPLES["Trainium"]
    script = export("aws_cli", given).text
    assert "torchrun" not in script
    assert "export DATA_PARALLEL=32" in script
    calls = run_with_stubs(script, tmp_path)
    assert "trn1.32xlarge" in calls[1]
    made = export("terraform", given).text
    assert "Machines only: Trainium" in made
    assert 'output "command"' not in made
    reasons = possible(given)
    assert "no GPU" in reasons["skypilot"]
    assert possible(SAMPLES["a TPU"])["terraform"].startswith("TPU-v4 is no GPU")


def test_megatron_has_the_layout_the_model_and_the_batch(tmp_path: Path) -> None:
    exported = export("megatron", SAMPLES["tensor parallel"])
    (call,) = run_with_stubs(exported.text, tmp_path, ("--data-path", "my data"))
    assert call[:3] == ["torchrun", "--nnodes=2", "--nproc-per-node=8"]
    for name, value in (
        ("--tensor-model-parallel-size", "8"), ("--micro-batch-size", "1"),
        ("--global-batch-size", "16"), ("--num-layers", "4"), ("--num-query-groups", "2"),
        ("--seq-length", "128"), ("--train-iters", "16"),
    ):  # fmt: skip
        assert call[call.index(name) + 1] == value
    assert {"--sequence-parallel", "--recompute-activations", "--bf16",
            "--use-distributed-optimizer"} <= set(call)  # fmt: skip
    assert call[-2:] == ["--data-path", "my data"]


def test_the_batch_of_deepspeed_is_that_of_the_layout(tmp_path: Path) -> None:
    given = SAMPLES["FSDP"]
    layout = given.plan.layout
    run_with_stubs(export("deepspeed", given).text, tmp_path)
    config = parsed(
        dataclasses.replace(
            export("json", given), text=(tmp_path / "ds_config.json").read_text(), language="json"
        )
    )
    micro, steps = config["train_micro_batch_size_per_gpu"], config["gradient_accumulation_steps"]
    assert config["train_batch_size"] == micro * steps * layout.data_parallel
    assert config["zero_optimization"] == {"stage": 3}
    assert config["bf16"] == {"enabled": True}


def test_fsdp_shards_over_the_data_parallel_ranks_and_gathers_again_at_zero_3() -> None:
    whole = export("fsdp", SAMPLES["FSDP"]).text
    assert "--parallelism.data_parallel_shard_degree=16" in whole
    assert "--parallelism.fsdp_reshard_after_forward=always" in whole
    assert "--activation_checkpoint.mode=full" in whole
    kept = export("fsdp", SAMPLES["sharded gradients"]).text
    assert "--parallelism.fsdp_reshard_after_forward=never" in kept
    plain = export("fsdp", SAMPLES["two spot machines of AWS"]).text
    assert "--parallelism.data_parallel_replicate_degree=16" in plain


# Fields of Accelerate's own configuration; it refuses files with others.
ACCELERATE_FIELDS = {
    "compute_environment", "distributed_type", "mixed_precision", "num_machines", "num_processes",
    "machine_rank", "main_process_port", "main_training_function", "rdzv_backend",
    "same_network", "use_cpu", "fsdp_config", "deepspeed_config",
}  # fmt: skip


@pytest.mark.parametrize(
    ("sample", "kind"),
    [("FSDP", "FSDP"), ("two spot machines of AWS", "MULTI_GPU"), ("a share of a GPU", "NO")],
)
def test_accelerate_names_the_kind_of_data_parallelism(sample: str, kind: str) -> None:
    config = document("accelerate", SAMPLES[sample])
    assert set(config) <= ACCELERATE_FIELDS
    assert config["distributed_type"] == kind
    given = SAMPLES[sample]
    assert config["num_processes"] == given.nodes * given.processes


def test_the_row_and_the_json_hold_the_numbers_of_the_plan() -> None:
    given = SAMPLES["GCP"]
    (row,) = document("csv", given)
    assert row["plan_id"] == given.plan.id
    assert float(row["cost_usd"]) == given.plan.cost_usd.value
    whole = document("json", given)
    assert whole["plan_id"] == given.plan.id
    assert Plan.model_validate(whole["plan"]) == given.plan


def test_the_environment_says_the_layout_to_scripts_of_any_framework() -> None:
    given = SAMPLES["tensor parallel"]
    task = document("skypilot", given)
    assert task["envs"]["TENSOR_PARALLEL"] == "8"
    assert task["envs"]["ADVISOR_PLAN_ID"] == given.plan.id
    assert scripts_of(export("skypilot", given))[0].startswith("torchrun --nnodes=2")


def test_the_maker_of_the_accelerator_is_looked_up() -> None:
    made = launch_of(SAMPLES["GCP"].proposal, load())
    assert made.vendor == "NVIDIA"
    assert made.command == ("train.py",)
    unknown = launch(accelerator="unheard-of")
    assert launch_of(unknown.proposal, load()).vendor == ""


@pytest.mark.parametrize("command", ["", "   ", "train.py 'open", "train.py 'a\nb'", "x" * 5000])
def test_a_command_that_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(InvalidInputError):
        words_of(command)
