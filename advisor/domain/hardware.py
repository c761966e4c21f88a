"""What can be rented: accelerators, machine shapes and their prices."""

from __future__ import annotations

import datetime as dt
from typing import Final, Literal

from pydantic import Field

from advisor.domain.base import Noun
from advisor.domain.workload import Precision

Vendor = Literal["NVIDIA", "AMD", "Google", "AWS", "Intel", "other"]
OWN_CLOUD: Final = "own"  # machines of the user's own list
Market = Literal[
    "on_demand", "spot", "reserved_1y", "reserved_3y", "savings_plan", "capacity_block"
]
# Only the user knows their prices: they stand in a list of the user's own.
COMMITTED: Final[tuple[Market, ...]] = ("savings_plan", "capacity_block")
TrustFlag = Literal[
    "stale",  # older than the age limit, or of unknown date
    "derived_spot",  # computed from an average saving, not a quote
    "spot_not_below_on_demand",  # the spot price saves nothing
    "implausible",  # far from what this accelerator costs elsewhere
    "reservation_only",  # cannot be rented on demand
    "duplicate",  # two rows for one key disagreed; the dearer is kept
]


class Accelerator(Noun):
    """One GPU, TPU or other device. Peaks are dense (no sparsity); None means not published."""

    name: str = Field(min_length=1)
    vendor: str
    architecture: str
    family: str = Field(description="The generation as people name it, e.g. Hopper.")
    year: int | None = Field(default=None, ge=2000, le=2100)
    memory_bytes: float = Field(gt=0)
    memory_bytes_per_s: float = Field(gt=0)
    peak_flops: dict[Precision, float]
    link: str = Field(default="none", description="Name of the link between devices of a node.")
    link_bytes_per_s: float | None = Field(
        default=None, gt=0, description="Per device, all links, one direction."
    )
    pcie_gen: int | None = None
    tdp_w: float | None = None
    source: str


class InstanceType(Noun):
    """A machine shape of one cloud."""

    cloud: str
    name: str
    accelerator: str
    accelerators: float = Field(gt=0, description="A fraction for a share of one device.")
    accelerator_memory_bytes: float = Field(gt=0)
    vcpus: float | None = Field(default=None, gt=0)
    memory_bytes: float | None = Field(default=None, gt=0)
    link_bytes_per_s: float = Field(gt=0, description="Per device inside the node, one direction.")
    network_bytes_per_s: float | None = Field(
        default=None, gt=0, description="Per node to other nodes, one direction."
    )
    fabric: str = Field(default="", description="Name of the network between nodes.")
    source: str


class Offer(Noun):
    """A machine shape in a region and market at a price."""

    cloud: str
    instance_type: str
    region: str
    market: Market
    usd_per_h: float = Field(gt=0)
    source: str
    as_of: dt.date | None = None
    flags: tuple[TrustFlag, ...] = ()
    list_usd_per_h: float | None = Field(
        default=None, gt=0, description="The list price, where the user's discount lowers it."
    )
    discount_percent: float | None = Field(default=None, gt=0, lt=100)

    @property
    def dated(self) -> str:
        """Of which day the price is, in words."""
        return "not dated" if self.as_of is None else f"of {self.as_of}"

    @property
    def label(self) -> str:
        """The user's discount in words, or nothing."""
        return "" if self.discount_percent is None else f"your discount {self.discount_percent:g} %"
