"""What a cloud lets an account run at once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from advisor.domain.base import Noun

QuotaUnit = Literal["machines", "accelerators", "vcpus"]
QuotaMarket = Literal["any", "spot", "not_spot"]


class Quota(Noun):
    """At most so many machines, accelerators or vCPUs of some instance types at once.

    A plan within a quota uses no more of its unit than `most`; plans of other clouds, regions,
    markets or instance types are not limited by it.
    """

    name: str = Field(min_length=1, description="As it was given.")
    cloud: str = Field(description="Empty: every cloud, each on its own.")
    region: str = Field(default="", description="Empty: every region, each on its own.")
    market: QuotaMarket = "any"
    instance_types: tuple[str, ...] = Field(min_length=1)
    unit: QuotaUnit
    most: float = Field(ge=0)
