"""PyTorch FSDP2 through torchtitan: the layout as its command-line options."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch_script import launch_script

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

SHARDED: Final = (2, 3)


@EXPORTERS.register("fsdp")
class Fsdp:
    """A script for every machine; the model and the data are torchtitan's, in its own config."""

    label: ClassVar[str] = "FSDP, torchtitan"
    use: ClassVar[str] = "NODE_RANK=0 MASTER_ADDR=… bash {file}, on every machine"
    suffix: ClassVar[str] = "fsdp.sh"
    language: ClassVar[Language] = "bash"

    def refusal(self, launch: Launch) -> str:
        """Return why FSDP has no such layout, or nothing."""
        if launch.plan.layout.zero_stage == 1:
            return "FSDP has no stage that shards the optimizer state alone."
        if not launch.workload.model.is_transformer:
            return "torchtitan trains transformers."
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the script."""
        layout, workload = launch.plan.layout, launch.workload
        sharded = layout.zero_stage in SHARDED
        options = {
            "parallelism.data_parallel_shard_degree": layout.data_parallel if sharded else 1,
            "parallelism.data_parallel_replicate_degree": 1 if sharded else layout.data_parallel,
            "parallelism.fsdp_reshard_after_forward": (
                "always" if layout.zero_stage == 3 else "never"
            ),
            "parallelism.tensor_parallel_degree": layout.tensor_parallel,
            "parallelism.pipeline_parallel_degree": layout.pipeline_parallel,
            "training.local_batch_size": (
                layout.micro_batch * (layout.accumulation if layout.pipeline_parallel > 1 else 1)
            ),
            "training.global_batch_size": workload.global_batch,
            "training.seq_len": workload.model.tokens_per_sample,
            "training.steps": launch.plan.steps,
            "activation_checkpoint.mode": layout.recompute,
        }
        if layout.pipeline_parallel > 1:
            options["parallelism.pipeline_parallel_microbatch_size"] = layout.micro_batch
        return launch_script(launch, tuple(f"--{k}={v}" for k, v in options.items()))
