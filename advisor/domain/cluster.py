"""Groups of machines that work on one job."""

from __future__ import annotations

from pydantic import Field

from advisor.domain.base import Noun


class NodeGroup(Noun):
    """Equal machines in one region."""

    cloud: str
    instance_type: str
    region: str = Field(description="Empty where only the hardware matters.")
    count: int = Field(ge=1)
    accelerator: str
    accelerators_per_node: float = Field(gt=0)

    @property
    def accelerators(self) -> float:
        """Devices in the group."""
        return self.count * self.accelerators_per_node


class Cluster(Noun):
    """One group is a homogeneous cluster, several are a mixed or geo-distributed one."""

    groups: tuple[NodeGroup, ...] = Field(min_length=1)

    @property
    def accelerators(self) -> float:
        """Devices in the cluster."""
        return sum(group.accelerators for group in self.groups)

    @property
    def machines(self) -> int:
        """Machines in the cluster."""
        return sum(group.count for group in self.groups)

    def __str__(self) -> str:
        return " + ".join(f"{g.count} × {g.instance_type}" for g in self.groups)
