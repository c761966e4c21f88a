"""DeepSpeed: its configuration, and the script that starts with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch import NEEDS_THE_MODEL
from advisor.advice.launch_script import launch_script

if TYPE_CHECKING:
    from advisor.advice.launch import Launch


@EXPORTERS.register("deepspeed")
class DeepSpeed:
    """A script for every machine that writes ``ds_config.json`` and starts with it."""

    label: ClassVar[str] = "DeepSpeed"
    use: ClassVar[str] = "NODE_RANK=0 MASTER_ADDR=… bash {file}, on every machine"
    suffix: ClassVar[str] = "deepspeed.sh"
    language: ClassVar[Language] = "bash"

    def refusal(self, launch: Launch) -> str:
        """Return why a configuration alone does not lay the job out so, or nothing."""
        layout = launch.plan.layout
        if layout.tensor_parallel > 1 or layout.pipeline_parallel > 1:
            return NEEDS_THE_MODEL
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the script with the configuration inside."""
        text = json.dumps(config_of(launch), indent=1)
        before = f"cat > ds_config.json <<'ADVISOR_END'\n{text}\nADVISOR_END\n"
        return launch_script(launch, ("--deepspeed", "ds_config.json"), before)


def config_of(launch: Launch) -> dict[str, Any]:
    """Return DeepSpeed's configuration of the layout."""
    layout, precision = launch.plan.layout, launch.workload.precision
    config: dict[str, Any] = {
        "train_batch_size": launch.workload.global_batch,
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "gradient_accumulation_steps": layout.accumulation,
        "zero_optimization": {"stage": layout.zero_stage},
    }
    if precision in ("bf16", "fp8"):
        config["bf16"] = {"enabled": True}
    if precision == "fp16":
        config["fp16"] = {"enabled": True}
    return config
