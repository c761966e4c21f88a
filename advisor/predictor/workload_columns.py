"""A workload as columns of the physics."""

from __future__ import annotations

from typing import Final

from advisor.domain import Family, Optimizer, Precision, Workload
from advisor.predictor.frameworks import UNNAMED
from advisor.predictor.hardware import PRECISION_ORDER
from advisor.predictor.runs import FAMILY_CODES, FROZEN_BACKWARD_RATIO, STACK_CODES
from advisor.predictor.shapes import network_columns

BYTES_PER_ELEMENT: Final[dict[Precision, float]] = {
    "fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 2.0,
}  # fmt: skip
# Optimizer state per trainable parameter [bytes]: mixed precision keeps a float master copy
# (Rajbhandari et al., 2020, arXiv 1910.02054, section 3.1), full precision needs none.
STATE_BYTES: Final[dict[Optimizer, tuple[float, float]]] = {
    "adamw": (12.0, 8.0), "sgd": (8.0, 4.0), "adafactor": (6.0, 2.0),
}  # fmt: skip
# NF4 weights with double quantisation (Dettmers et al., 2023, arXiv 2305.14314, section 3).
QLORA_BYTES_PER_PARAM: Final = 0.516


def workload_columns(workload: Workload) -> dict[str, float]:
    """Return the workload's share of the columns of `advisor.predictor.jobs.Jobs`."""
    model = workload.model
    frozen = workload.tuning in ("lora", "qlora")
    width = BYTES_PER_ELEMENT[workload.precision]
    mixed, full = STATE_BYTES[workload.optimizer]
    large = model.family in ("language", "moe")
    return {
        **network_columns(model),
        "trainable_params": workload.trainable_params,
        "global_batch": float(workload.global_batch),
        "bytes_per_element": width,
        "base_bytes_per_param": QLORA_BYTES_PER_PARAM if workload.tuning == "qlora" else width,
        "optimizer_bytes_per_param": full if width == 4 else mixed,
        "backward_ratio": FROZEN_BACKWARD_RATIO if frozen else 2.0,
        "is_causal": float(large),
        "parameter_servers": 0.0,
        "family_code": FAMILY_CODES[model.family],
        "precision_code": float(PRECISION_ORDER.index(workload.precision)),
        "stack_code": usual_stack(model.family),
        "framework_code": UNNAMED,
    }


def usual_stack(family: Family) -> float:
    """Return the code of the software stack that a family is usually trained with."""
    return STACK_CODES["megatron" if family in ("language", "moe") else "pytorch"]
