"""Devices that differ, and the ways to run one job on some of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.estimate import Estimate
from advisor.domain.workload import Workload

Label = Literal["validated", "replicated", "bounded", "reconstructed"]


class DeviceGroup(Noun):
    """Equal machines that are there, or can be had."""

    name: str = Field(min_length=1, description="Accelerator or instance type, as it is known.")
    accelerator: str
    machines: int = Field(ge=1)
    accelerators_per_machine: int = Field(ge=1)
    memory_bytes: float = Field(gt=0, description="Of one accelerator.")
    link_bytes_per_s: float = Field(gt=0, description="Between the devices of a machine.")
    network_bytes_per_s: float = Field(gt=0, description="Of a machine to other machines.")
    usd_per_h: float | None = Field(default=None, gt=0, description="Of a machine; None: own.")

    @property
    def accelerators(self) -> int:
        """Devices in the group."""
        return self.machines * self.accelerators_per_machine

    def __str__(self) -> str:
        chosen = self.name != self.accelerator
        return f"{self.machines if chosen else self.accelerators} × {self.name}"


class Inventory(Noun):
    """What is there: groups of machines, fastest network first or in the order given."""

    groups: tuple[DeviceGroup, ...] = Field(min_length=1)

    @property
    def accelerators(self) -> int:
        """Devices in all groups."""
        return sum(group.accelerators for group in self.groups)

    @property
    def machines(self) -> int:
        """Machines in all groups."""
        return sum(group.machines for group in self.groups)

    @property
    def usd_per_h(self) -> float | None:
        """Price of all machines, None where one is not priced."""
        rates = [group.usd_per_h for group in self.groups]
        priced = [
            rate * group.machines
            for rate, group in zip(rates, self.groups, strict=True)
            if rate is not None
        ]
        return sum(priced) if len(priced) == len(rates) else None

    def __str__(self) -> str:
        return " + ".join(str(group) for group in self.groups)


class DeviceShare(Noun):
    """What some equal devices do in a step; every number is of one of them."""

    group: str
    accelerator: str
    devices: int = Field(ge=1)
    batch: float = Field(ge=0, description="Samples per step.")
    micro_batch: float = Field(ge=0)
    micro_batches: int = Field(ge=0)
    layers: int | None = Field(default=None, ge=0, description="None: all.")
    state_share: float = Field(ge=0, le=1, description="Of parameters, gradients and optimizer.")
    busy_share: float = Field(ge=0, le=1, description="Of the step, in arithmetic.")
    memory_bytes: float = Field(ge=0)
    capacity_bytes: float = Field(gt=0)


class MixParts(Noun):
    """One step; the parts sum to the predicted step time."""

    compute_s: float = Field(ge=0, description="Arithmetic of the device that sets the pace.")
    exposed_communication_s: float = Field(ge=0)
    bubble_s: float = Field(ge=0, description="It waits for other stages to fill and drain.")

    @property
    def total_s(self) -> float:
        """The step."""
        return self.compute_s + self.exposed_communication_s + self.bubble_s


class MixPlan(Noun):
    """A way to run the job on some of the devices."""

    strategy: str
    title: str
    label: Label
    paper: str
    inventory: Inventory = Field(description="What is used.")
    step_time_s: Estimate
    samples_per_s: float = Field(gt=0)
    hours: Estimate = Field(description="Training alone: no start-up, no failures.")
    cost_usd: Estimate | None = Field(default=None, description="None where not all is priced.")
    parts: MixParts
    shares: tuple[DeviceShare, ...] = Field(min_length=1)
    note: str = ""


class Worth(Noun):
    """Whether some of the devices are worth it."""

    group: str
    verdict: Literal["worth it", "not worth it", "needed", "of no use"]
    with_s: float | None = Field(default=None, gt=0, description="Best step with them.")
    without_s: float | None = Field(default=None, gt=0, description="Best step without them.")
    gain: float | None = Field(default=None, description="Of throughput, by having them.")
    gain_low: float | None = Field(default=None, description="If they are as slow as may be.")
    gain_high: float | None = Field(default=None, description="If they are as fast as may be.")
    with_usd: float | None = Field(default=None, gt=0)
    without_usd: float | None = Field(default=None, gt=0)
    reason: str


class NotUsed(Noun):
    """A way that does not apply, and why."""

    strategy: str
    title: str
    reason: str


class MixedAdvice(Noun):
    """Which mix of the devices to use and how, and what each kind of device is worth."""

    workload: Workload
    inventory: Inventory
    best: MixPlan
    plans: tuple[MixPlan, ...] = Field(description="The best of every way and mix, fastest first.")
    worth: tuple[Worth, ...]
    not_used: tuple[NotUsed, ...]
    assumptions: tuple[str, ...]
