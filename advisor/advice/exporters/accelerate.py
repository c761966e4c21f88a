"""Hugging Face Accelerate: its configuration of the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch import NEEDS_THE_MODEL, PORT
from advisor.advice.quoting import shell
from advisor.advice.yaml_text import yaml_text

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

MIXED: Final = {"fp32": "no", "tf32": "no", "fp16": "fp16", "bf16": "bf16", "fp8": "fp8"}


@EXPORTERS.register("accelerate")
class Accelerate:
    """A file for ``accelerate launch``; ZeRO-1 is DeepSpeed's, ZeRO-2 and 3 are FSDP2's."""

    label: ClassVar[str] = "Accelerate"
    use: ClassVar[str] = "accelerate launch --config_file {file} train.py"
    suffix: ClassVar[str] = "accelerate.yaml"
    language: ClassVar[Language] = "yaml"

    def refusal(self, launch: Launch) -> str:
        """Return why a configuration alone does not lay the job out so, or nothing."""
        layout = launch.plan.layout
        if layout.tensor_parallel > 1 or layout.pipeline_parallel > 1:
            return NEEDS_THE_MODEL
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the configuration."""
        several = launch.nodes > 1
        config: dict[str, Any] = {
            "compute_environment": "LOCAL_MACHINE",
            "distributed_type": "MULTI_GPU",
            "mixed_precision": MIXED[launch.workload.precision],
            "num_machines": launch.nodes,
            "num_processes": launch.nodes * launch.processes,
            "machine_rank": 0,
            "main_process_port": PORT,
            "main_training_function": "main",
            "rdzv_backend": "static",
            "same_network": True,
            "use_cpu": False,
        }
        return yaml_text((*launch.headline, _start(launch, several=several)),
                         config | _sharding(launch))  # fmt: skip


def _start(launch: Launch, *, several: bool) -> str:
    place = "--machine_rank $NODE_RANK --main_process_ip $MASTER_ADDR " if several else ""
    steps = f"--gradient_accumulation_steps {launch.plan.layout.accumulation} "
    return f"Start: accelerate launch {place}{steps}--config_file … {shell(launch.command)}"


def _sharding(launch: Launch) -> dict[str, Any]:
    layout = launch.plan.layout
    if layout.zero_stage == 0:
        return {} if layout.devices > 1 else {"distributed_type": "NO"}
    if layout.zero_stage == 1:
        deepspeed = {
            "zero_stage": 1,
            "gradient_accumulation_steps": layout.accumulation,
            "deepspeed_multinode_launcher": "standard",
        }
        return {"distributed_type": "DEEPSPEED", "deepspeed_config": deepspeed}
    fsdp = {
        "fsdp_version": 2,
        "fsdp_reshard_after_forward": layout.zero_stage == 3,
        "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "fsdp_state_dict_type": "SHARDED_STATE_DICT",
        "fsdp_activation_checkpointing": layout.recompute == "full",
        "fsdp_offload_params": False,
    }
    return {"distributed_type": "FSDP", "fsdp_config": fsdp}
