"""A way to run the job, with what it takes."""

from __future__ import annotations

import hashlib
import math
from typing import Self

from pydantic import Field, model_validator

from advisor.domain.base import Noun
from advisor.domain.calibration import Calibrated
from advisor.domain.cluster import Cluster
from advisor.domain.credits import Credits
from advisor.domain.estimate import Estimate
from advisor.domain.hardware import Offer
from advisor.domain.interruptions import Interruptions
from advisor.domain.layout import Layout


class StepParts(Noun):
    """One step; the parts sum to the predicted step time."""

    compute_s: float = Field(ge=0)
    exposed_communication_s: float = Field(ge=0)
    bubble_s: float = Field(ge=0)
    overhead_s: float = Field(ge=0)
    correction: float = Field(
        gt=0, description="Learned factor already contained in every part; 1 is pure physics."
    )

    @property
    def total_s(self) -> float:
        """The step."""
        return self.compute_s + self.exposed_communication_s + self.bubble_s + self.overhead_s


class MemoryUse(Noun):
    """Peak memory of the fullest device."""

    parameters_bytes: float = Field(ge=0)
    gradients_bytes: float = Field(ge=0)
    optimizer_bytes: float = Field(ge=0)
    activations_bytes: float = Field(ge=0)
    workspace_bytes: float = Field(ge=0)
    capacity_bytes: float = Field(gt=0)
    out_of_memory_probability: float = Field(ge=0, le=1)

    @property
    def used_bytes(self) -> float:
        """The sum of the parts."""
        return (
            self.parameters_bytes
            + self.gradients_bytes
            + self.optimizer_bytes
            + self.activations_bytes
            + self.workspace_bytes
        )


class Bill(Noun):
    """The bill of the finished job; the parts sum to the total. Taxes are not contained."""

    machines_usd: float = Field(ge=0)
    startup_usd: float = Field(ge=0, description="Machines while they start.")
    retries_usd: float = Field(ge=0, description="The allowance for restarts and retries.")
    interruptions_usd: float | None = Field(
        default=0.0, ge=0, description="Expected, of spot machines; None: nothing is known of them."
    )
    storage_usd: float | None = Field(
        default=None, ge=0, description="Checkpoints while the job runs; None: no price known."
    )

    @property
    def total_usd(self) -> float:
        """The sum of the known parts."""
        rent = self.machines_usd + self.startup_usd + self.retries_usd
        return rent + (self.interruptions_usd or 0.0) + (self.storage_usd or 0.0)


class Plan(Noun):
    """Cluster, layout and market with the estimates of time, memory, bill and risk."""

    cluster: Cluster
    layout: Layout
    offer: Offer
    step_time_s: Estimate
    hours: Estimate
    cost_usd: Estimate
    steps: int = Field(ge=1)
    parts: StepParts
    memory: MemoryUse
    bill: Bill
    mfu: float = Field(ge=0, le=1, description="Model FLOPs utilisation of the dense peak.")
    deadline_probability: float | None = Field(default=None, ge=0, le=1)
    interruptions: Interruptions | None = Field(
        default=None, description="None: the machines are not taken away."
    )
    credits: Credits | None = Field(default=None, description="None without own credits.")
    calibrated: Calibrated | None = Field(default=None, description="None without own runs.")
    catalog_hash: str
    data_hash: str
    advisor_version: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        # A share of a device is one to its process.
        available = math.ceil(self.cluster.accelerators)
        if len(self.cluster.groups) == 1 and self.layout.devices > available:
            raise ValueError("the layout uses more devices than the cluster has")
        return self

    @property
    def id(self) -> str:
        """Short stable name: the same machines, market and layout have the same id."""
        key = self.cluster.to_json() + self.offer.market + self.layout.to_json()
        return hashlib.sha256(key.encode()).hexdigest()[:12]
