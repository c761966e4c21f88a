"""Megatron-LM: the layout and the model as arguments of its training scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from advisor.advice.exporter import EXPORTERS, Language
from advisor.advice.launch_script import launch_script

if TYPE_CHECKING:
    from advisor.advice.launch import Launch

RECOMPUTE: Final = {
    "none": (),
    "selective": ("--recompute-activations",),
    "full": ("--recompute-granularity", "full", "--recompute-method", "uniform",
             "--recompute-num-layers", "1"),
}  # fmt: skip
PRECISION: Final = {
    "fp32": (), "tf32": (), "fp16": ("--fp16",), "bf16": ("--bf16",),
    "fp8": ("--bf16", "--fp8-format", "hybrid"),
}  # fmt: skip
SHARDING: Final = {
    0: (),
    1: ("--use-distributed-optimizer",),
    2: ("--use-distributed-optimizer", "--use-megatron-fsdp", "--data-parallel-sharding-strategy",
        "optim_grads"),
    3: ("--use-distributed-optimizer", "--use-megatron-fsdp", "--data-parallel-sharding-strategy",
        "optim_grads_params"),
}  # fmt: skip


@EXPORTERS.register("megatron")
class Megatron:
    """A script for every machine; data and tokenizer are arguments that follow it."""

    label: ClassVar[str] = "Megatron-LM"
    use: ClassVar[str] = "NODE_RANK=0 MASTER_ADDR=… bash {file} --data-path …, on every machine"
    suffix: ClassVar[str] = "megatron.sh"
    language: ClassVar[Language] = "bash"

    def refusal(self, launch: Launch) -> str:
        """Return why Megatron-LM does not train the job, or nothing."""
        if not launch.workload.model.is_transformer:
            return "Megatron-LM trains transformers."
        if launch.workload.tuning in ("lora", "qlora"):
            return "Megatron-LM's own scripts train all weights, not adapters."
        if launch.workload.optimizer == "adafactor":
            return "Megatron-LM has no Adafactor."
        return launch.no_gpu()

    def write(self, launch: Launch) -> str:
        """Return the script."""
        return launch_script(launch, flags_of(launch))


def flags_of(launch: Launch) -> tuple[str, ...]:
    """Return the arguments for the layout, the model and the batch."""
    layout, model, workload = launch.plan.layout, launch.workload.model, launch.workload
    numbers = {
        "--tensor-model-parallel-size": layout.tensor_parallel,
        "--pipeline-model-parallel-size": layout.pipeline_parallel,
        "--micro-batch-size": layout.micro_batch,
        "--global-batch-size": workload.global_batch,
        "--train-iters": launch.plan.steps,
        "--num-layers": model.layers,
        "--hidden-size": model.hidden,
        "--num-attention-heads": model.heads,
        "--seq-length": model.tokens_per_sample,
        "--max-position-embeddings": model.tokens_per_sample,
    }
    flags = [word for name, value in numbers.items() for word in (name, str(value))]
    if model.kv_heads not in (0, model.heads):
        flags += ["--group-query-attention", "--num-query-groups", str(model.kv_heads)]
    if model.experts:
        flags += ["--num-experts", str(model.experts), "--moe-router-topk",
                  str(model.experts_per_token)]  # fmt: skip
    if layout.tensor_parallel > 1:
        flags += ["--sequence-parallel"]  # what the memory of the plan assumes
    flags += ["--optimizer", "sgd" if workload.optimizer == "sgd" else "adam"]
    kinds = (SHARDING[layout.zero_stage], RECOMPUTE[layout.recompute],
             PRECISION[workload.precision])  # fmt: skip
    return (*flags, *(word for kind in kinds for word in kind))
