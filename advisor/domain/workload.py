"""What is to be trained: a model at a sample size, and how much of it."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from advisor.domain.base import Noun

Family = Literal[
    "language", "encoder", "moe", "vision", "cnn", "diffusion", "recommender", "speech", "other"
]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]
Optimizer = Literal["adamw", "sgd", "adafactor"]
Tuning = Literal["pretrain", "full", "lora", "qlora"]


class Model(Noun):
    """An architecture at one sample size (sequence length or resolution), in numbers.

    A sample is one sequence, image, latent or record. FLOPs count a multiply-add as two.
    Elements are counted unsharded, per sample, without recomputation.
    """

    name: str = Field(min_length=1)
    family: Family
    params: float = Field(gt=0, le=1e15)
    active_params: float = Field(gt=0, description="Used per token; below params for MoE only.")
    layers: int = Field(ge=1, le=100_000)
    hidden: int = Field(ge=0, description="Width of the residual stream; 0 where there is none.")
    heads: int = Field(ge=0)
    kv_heads: int = Field(ge=0)
    vocab: int = Field(ge=0)
    experts: int = Field(default=0, ge=0)
    experts_per_token: int = Field(default=0, ge=0)
    expert_params: float = Field(default=0.0, ge=0, description="Parameters inside all experts.")
    tokens_per_sample: int = Field(ge=1, description="Sequence length, patches, or 1.")
    resolution: int = Field(default=0, ge=0, description="Image side in pixels; 0 for text.")
    forward_flops_per_sample: float = Field(gt=0)
    attention_flops_per_sample: float = Field(
        default=0.0, ge=0, description="The part of the forward FLOPs spent on attention scores."
    )
    activation_elements_per_sample: float = Field(
        gt=0, description="Elements kept for the backward pass."
    )
    attention_elements_per_sample: float = Field(
        default=0.0, ge=0, description="Attention scores among them, if not fused away."
    )
    boundary_elements_per_sample: float = Field(
        gt=0, description="Elements that cross from one layer to the next."
    )
    source: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.active_params > self.params * (1 + 1e-9):
            raise ValueError("active parameters cannot exceed all parameters")
        if self.experts_per_token > self.experts:
            raise ValueError("experts per token cannot exceed the number of experts")
        if self.attention_flops_per_sample > self.forward_flops_per_sample:
            raise ValueError("attention FLOPs cannot exceed all forward FLOPs")
        return self

    @property
    def is_transformer(self) -> bool:
        """Whether layers are equal blocks that tensor and pipeline parallelism can cut."""
        return self.heads > 0


class Workload(Noun):
    """A training job: the model, the number of samples, the batch, precision and tuning."""

    model: Model
    samples: float = Field(gt=0, le=1e18, description="Samples to process until done.")
    global_batch: int = Field(ge=1, le=10**9, description="Samples per optimizer step.")
    precision: Precision
    optimizer: Optimizer = "adamw"
    tuning: Tuning = "pretrain"
    trainable_params: float = Field(gt=0)
    assumptions: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.trainable_params > self.model.params * (1 + 1e-9) and self.tuning in (
            "pretrain",
            "full",
        ):
            raise ValueError("trainable parameters cannot exceed all parameters")
        return self

    @property
    def steps(self) -> int:
        """Optimizer steps until done; in integers, as a float of 1e17 cannot count single steps."""
        return -(-math.ceil(self.samples) // self.global_batch)

    @property
    def tokens(self) -> float:
        """Tokens (or patches) processed until done."""
        return self.samples * self.model.tokens_per_sample
