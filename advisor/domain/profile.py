"""A measured run."""

from __future__ import annotations

import datetime as dt
import hashlib

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.workload import Family


class Provenance(Noun):
    """Where a profile came from."""

    source: str = Field(min_length=1, description="Short name of the source.")
    url: str = ""
    licence: str = ""
    collected: dt.date | None = None
    notes: str = ""


class Profile(Noun):
    """A measured run: what was trained, on what, how, and how fast.

    Public tables rarely say everything; what they do not say is None, never a guess.
    ``step_time_s`` is the time of one global batch.
    """

    model: str = Field(min_length=1)
    family: Family
    params: float | None = Field(default=None, gt=0)
    layers: int | None = Field(default=None, ge=1)
    hidden: int | None = Field(default=None, ge=1)
    sample_size: int | None = Field(
        default=None, ge=1, description="Sequence length or image side of a sample."
    )
    forward_flops_per_sample: float | None = Field(default=None, gt=0)
    dataset: str = ""
    framework: str = ""
    year: int | None = Field(default=None, ge=2000, le=2100, description="When it was measured.")
    precision: str = ""
    accelerator: str = Field(min_length=1)
    accelerators: float = Field(gt=0)
    nodes: int | None = Field(default=None, ge=1)
    instance_type: str = ""
    interconnect: str = ""
    parallelism: str = Field(default="", description="As the source writes it: tp=2;pp=4;…")
    global_batch: float | None = Field(default=None, gt=0)
    micro_batch: float | None = Field(default=None, gt=0)
    step_time_s: float = Field(gt=0)
    peak_memory_bytes: float | None = Field(default=None, gt=0)
    gpu_busy_share: float | None = Field(default=None, ge=0, le=1)
    comm_share: float | None = Field(default=None, ge=0, le=1)
    provenance: Provenance

    @property
    def content_hash(self) -> str:
        """SHA-256 of the measurement; the same run added twice has the same hash."""
        text = self.model_dump_json(exclude={"provenance": {"collected", "notes"}})
        return hashlib.sha256(text.encode()).hexdigest()
