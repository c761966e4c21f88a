"""How a job sits on a cluster."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from advisor.domain.base import Noun

Recompute = Literal["none", "selective", "full"]


class Layout(Noun):
    """Parallel degrees, sharding, micro-batch and recomputation.

    ``data_parallel × tensor_parallel × pipeline_parallel`` is the number of devices;
    ``micro_batch × data_parallel × accumulation`` is the global batch.
    """

    data_parallel: int = Field(ge=1)
    tensor_parallel: int = Field(default=1, ge=1)
    pipeline_parallel: int = Field(default=1, ge=1)
    zero_stage: Literal[0, 1, 2, 3] = 0
    micro_batch: int = Field(default=1, ge=1)
    accumulation: int = Field(default=1, ge=1)
    recompute: Recompute = "none"

    @property
    def devices(self) -> int:
        """Devices the layout uses."""
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel

    def __str__(self) -> str:
        parts = [f"data parallel {self.data_parallel}"]
        if self.tensor_parallel > 1:
            parts.append(f"tensor parallel {self.tensor_parallel}")
        if self.pipeline_parallel > 1:
            parts.append(f"pipeline parallel {self.pipeline_parallel}")
        if self.zero_stage:
            parts.append(f"ZeRO-{self.zero_stage}")
        parts.append(f"micro-batch {self.micro_batch}")
        if self.accumulation > 1:
            word = "micro-batches per step" if self.pipeline_parallel > 1 else "accumulation"
            parts.append(f"{word} {self.accumulation}")
        if self.recompute != "none":
            parts.append(f"{self.recompute} recompute")
        return ", ".join(parts)
