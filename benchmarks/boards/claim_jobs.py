"""A published effort as the job that its author would have described to us."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from advisor.core.errors import InvalidInputError
from advisor.zoo import build_workload
from benchmarks.boards.claim_models import (
    LANGUAGE_TASKS,
    architecture_of,
    masked_autoencoder,
    spread_experts,
)

if TYPE_CHECKING:
    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.domain import Accelerator, Workload
    from advisor.zoo import Architecture

TEXT: Final = ("claim_id", "job_name", "task", "source", "dataset", "image_size",
               "global_batch_unit", "precision", "gpu", "parallelism", "framework", "claim_kind",
               "flag")  # fmt: skip
NUMBERS: Final = ("params_b", "active_params_b", "layers", "hidden", "heads", "seq_len",
                  "tokens_b", "epochs", "samples_m", "global_batch", "n_gpus",
                  "gpu_hours")  # fmt: skip
# Figures that their authors made of a measured step or speed: nothing was lost on the way.
FROM_STEP: Final = re.compile(r"extrapolat|projection|from_step")
NOT_SCORED: Final = "estimate"
PREFERENCES: Final = re.compile(r"\b(?:rlhf|ppo)\b", re.IGNORECASE)
# Records and kernels written for one network.
BY_HAND: Final = re.compile(r"\bllm\.c\b|\bcuda\b|\brecord\b|\bspeed-?run", re.IGNORECASE)
# Prompts per step of Ouyang et al., 2022, arXiv 2203.02155, appendix C.4.
PREFERENCES_BATCH: Final = 512
MASKED: Final = re.compile(r"\bmae\b.*pre-?train", re.IGNORECASE)
FROZEN: Final = re.compile(r"linear prob|frozen", re.IGNORECASE)
# A batch stated in tokens is a round number of them: 4 M are 1,024 sequences of 4,096.
POWER_OF_TWO: Final = 0.06
# Samples a device is given at once where the batch is not stated but the devices are: fewer
# leave it idle, and nobody takes eight machines to feed each two pictures.
LEAST_PER_DEVICE: Final = {"cnn": 128, "vision": 64, "diffusion": 32}


@dataclass(frozen=True, slots=True)
class ClaimJob:
    """What a row describes.

    ``accelerators`` is None where the row does not say how many; ``whole`` is false where the
    figure is a measured step times the steps; ``preferences`` marks reinforcement learning from
    human feedback.
    """

    workload: Workload
    accelerator: Accelerator
    accelerators: int | None
    by_hand: bool
    whole: bool
    preferences: bool


def read_claims(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a file of claims with every column that is read, in its type.

    Raises
    ------
    InvalidInputError
        If a column is missing or holds text where a number belongs.
    """
    missing = [name for name in (*TEXT, *NUMBERS) if name not in frame]
    if missing:
        raise InvalidInputError(
            f"the file has no column {', '.join(missing)}.",
            where="claims",
            todo="Give the columns of claims.csv.",
        )
    out = frame.copy()
    for name in NUMBERS:
        try:
            out[name] = out[name].astype(float)
        except ValueError:
            raise InvalidInputError(
                "not all values are numbers.", where=name, todo="Leave unknown ones empty."
            ) from None
    for name in TEXT:
        # A column of numbers and gaps (image sides) is read as 224.0.
        out[name] = out[name].astype(object).where(out[name].notna(), "").astype(str)
        out[name] = out[name].str.replace(r"\.0$", "", regex=True)
    return out.reset_index(drop=True)


def scored(claims: pd.DataFrame) -> pd.Series:
    """Return which rows are scored: figures that are not plain estimates and carry no flag."""
    return (claims["claim_kind"] != NOT_SCORED) & (claims["flag"] == "") & (claims["gpu_hours"] > 0)


def is_language(claims: pd.DataFrame) -> pd.Series:
    """Return which rows are pre-training of language models."""
    return claims["task"] == "pretrain"


def job_of(row: pd.Series, catalog: Catalog) -> ClaimJob:
    """Return the job of a row of `read_claims`.

    Raises
    ------
    AdvisorError
        If the row does not say what is trained, how much of it, or on what.
    """
    architecture = architecture_of(row)
    accelerator = _accelerator(row["gpu"], row["task"] in LANGUAGE_TASKS, catalog)
    devices = int(row["n_gpus"]) if row["n_gpus"] > 0 else None
    size = _sample_size(row, architecture)
    workload = build_workload(
        architecture,
        **_amount(row, architecture),
        sample_size=size,
        global_batch=_batch(row, architecture, size, devices),
        precision=_precision(row, architecture, accelerator),
        tuning=_tuning(row),
    )
    return ClaimJob(
        workload=_as_trained(workload, row),
        accelerator=accelerator,
        accelerators=devices,
        by_hand=BY_HAND.search(f"{row['job_name']} {row['framework']}") is not None,
        whole=FROM_STEP.search(row["claim_kind"]) is None,
        preferences=_has_preferences(row),
    )


def _has_preferences(row: pd.Series) -> bool:
    return PREFERENCES.search(f"{row['job_name']} {row['dataset']}") is not None


def _accelerator(text: str, is_language: bool, catalog: Catalog) -> Accelerator:
    """Return the accelerator; in brackets stands what the source says of it: V100 (32GB …).

    Where it was sold with several memories and none is stated, language models have the larger.
    """
    name, _, remark = text.partition("(")
    memory = re.search(r"\d+ ?GB", remark)
    name = f"{name.strip()}-{memory[0]}" if memory else name.strip()
    sizes = {int(found[1]): label for label in catalog.accelerators.index
             if (found := re.fullmatch(rf"{re.escape(name)}-(\d+)GB", label))}  # fmt: skip
    return catalog.accelerator(sizes[max(sizes)] if is_language and sizes else name)


def _sample_size(row: pd.Series, architecture: Architecture) -> int | None:
    """Return sequence length or image side; of several sides the last, where most work is."""
    if row["seq_len"] > 0 and row["task"] in LANGUAGE_TASKS:
        stated = int(row["seq_len"])
        longest = architecture.largest_sample_size
        return min(stated, longest) if longest else stated
    sides = re.findall(r"\d+", row["image_size"])
    return int(sides[-1]) if sides else None


def _amount(row: pd.Series, architecture: Architecture) -> dict[str, Any]:
    """Return how much is trained, as an argument of `build_workload`."""
    passes = row["epochs"] if row["epochs"] > 0 else 1.0
    if row["tokens_b"] > 0 and row["task"] in LANGUAGE_TASKS:
        return {"tokens": row["tokens_b"] * 1e9}
    if row["samples_m"] > 0:
        return {"samples": row["samples_m"] * 1e6 * passes}
    if row["epochs"] > 0 and architecture.dataset is not None and _is_usual(row, architecture):
        return {"epochs": row["epochs"]}
    raise InvalidInputError(
        "the size of the data set is not stated.",
        where="amount of training",
        todo="Give tokens, samples, or a data set of known size.",
    )


def _is_usual(row: pd.Series, architecture: Architecture) -> bool:
    """Return whether the data set is the one that the zoo knows the size of."""
    usual = architecture.dataset
    return usual is not None and _first_word(usual.name) == _first_word(row["dataset"])


def _first_word(name: str) -> str:
    return re.split(r"[\W_]", name.strip().lower(), maxsplit=1)[0]


def _batch(
    row: pd.Series, architecture: Architecture, size: int | None, devices: int | None
) -> int | None:
    """Return the samples per step, None for the usual ones."""
    if row["global_batch"] > 0:
        batch = float(row["global_batch"])
        if row["global_batch_unit"] == "tokens":
            batch /= size or architecture.default_sample_size
        near = int(2 ** round(math.log2(max(batch, 1.0))))
        return near if abs(math.log(batch / near)) < POWER_OF_TWO else max(1, round(batch))
    if _has_preferences(row):
        return PREFERENCES_BATCH
    least = LEAST_PER_DEVICE.get(architecture.family)
    if least is None or devices is None or architecture.usual_batch is not None:
        return None
    return least * devices


def _precision(row: pd.Series, architecture: Architecture, accelerator: Accelerator) -> str:
    text = row["precision"].lower()
    if "fp8" in text and architecture.adapter_dimensions:
        return "fp8"
    for name in ("fp16", "tf32", "fp32"):
        if name in text:
            return name
    return "bf16" if accelerator.peak_flops.get("bf16") else "fp16"


def _tuning(row: pd.Series) -> str:
    text = f"{row['job_name']} {row['parallelism']}".lower()
    if row["task"] == "lora":
        return "qlora" if re.search(r"qlora|4-bit", text) else "lora"
    return "full" if row["task"] == "finetune" else "pretrain"


def _as_trained(workload: Workload, row: pd.Series) -> Workload:
    """Return the workload with the network as this way of training uses it."""
    model = workload.model
    if model.experts:
        model = spread_experts(model)
    if MASKED.search(row["job_name"]) and model.family == "vision":
        model = masked_autoencoder(model)
    if FROZEN.search(row["job_name"]):
        raise InvalidInputError("training of a head on a frozen network is not described.")
    trained = min(workload.trainable_params, model.params)
    return workload.model_copy(update={"model": model, "trainable_params": trained})
