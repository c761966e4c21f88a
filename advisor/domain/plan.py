"""A way to run the job, with what it takes."""

from __future__ import annotations

import hashlib
import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Self

from pydantic import Field, field_validator, model_validator

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
    """The bill of the finished job, to the cent: every part is, and they sum to the total.

    Each part is rounded to the cent, half up, and the total is the sum of the rounded parts, as
    on an invoice. Taxes are not contained. None is a part whose price is not known.
    """

    machines_usd: float = Field(ge=0, description="Machines while they train.")
    startup_usd: float = Field(ge=0, description="Machines while they start.")
    retries_usd: float = Field(ge=0, description="The allowance for restarts and retries.")
    interruptions_usd: float | None = Field(
        default=0.0, ge=0, description="Expected, of spot machines: checkpoints, work done again, "
        "new starts; None: nothing is known of them.",
    )  # fmt: skip
    rounding_usd: float | None = Field(
        default=0.0, ge=0, description="What the cloud's minimum and whole seconds, minutes or "
        "hours add; None: its rule is not known.",
    )  # fmt: skip
    failed_usd: float = Field(
        default=0.0, ge=0, description="Expected, of a first attempt that runs out of memory."
    )
    storage_usd: float | None = Field(
        default=None, ge=0, description="Checkpoints while the job runs; None: no price known."
    )
    writes_usd: float | None = Field(
        default=None, ge=0, description="Writing the checkpoints; None: no price known."
    )
    data_storage_usd: float | None = Field(
        default=0.0, ge=0, description="The data set while the job runs; None: no price known."
    )
    traffic_usd: float | None = Field(
        default=0.0, ge=0, description="Data to the machines and trained weights back, between "
        "regions and clouds; None: no price known.",
    )  # fmt: skip
    data_stated: bool = Field(
        default=False, description="Whether anything was said of a data set; else it is left out."
    )

    @field_validator(*(name for name in __annotations__ if name.endswith("_usd")))
    @classmethod
    def _to_the_cent(cls, value: float | None) -> float | None:
        return None if value is None else cents_of(value) / 100

    @property
    def parts_usd(self) -> dict[str, float | None]:
        """Every part by its name, in the order of the bill."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name[-4:] == "_usd"
        }

    @property
    def total_usd(self) -> float:
        """The sum of the known parts."""
        return sum(cents_of(part) for part in self.parts_usd.values() if part is not None) / 100

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the total does not contain, in words."""
        unknown = {
            "storage_usd": "checkpoint storage (no price known)",
            "writes_usd": "writing checkpoints (no price known)",
            "data_storage_usd": "storage of the data (no price known)",
            "traffic_usd": "data transfer (no price known)",
            "rounding_usd": "whole minutes or hours (billing rule not known)",
            "interruptions_usd": "interruptions (nothing known of them)",
        }
        said = [words for name, words in unknown.items() if getattr(self, name) is None]
        data = () if self.data_stated else ("the data set (none stated)",)
        return ("taxes", *data, *said)


def cents_of(amount_usd: float) -> int:
    """Return an amount of money in whole cents, half a cent up.

    A float is taken as the decimal it is written as: 1.005 is half a cent, not a little less.

    >>> cents_of(1.005), cents_of(0.0149), cents_of(8.784)
    (101, 1, 878)
    """
    exact = Decimal(str(round(amount_usd, 9)))
    return int((100 * exact).quantize(Decimal(1), ROUND_HALF_UP))


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
    carbon_kg: Estimate | None = Field(
        default=None, description="CO2e; None where the user's table of grids has no such region."
    )
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
