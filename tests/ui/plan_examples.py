"""A plan with given machines and hours, without a search."""

from __future__ import annotations

import datetime as dt

from advisor.domain import (
    Bill,
    Cluster,
    Estimate,
    Layout,
    MemoryUse,
    NodeGroup,
    Offer,
    Plan,
    StepParts,
)


def plan(hours: float = 10.0, count: int = 2, usd_per_h: float = 9.5) -> Plan:
    """Return a plan of `count` machines that takes so many hours."""
    group = NodeGroup(
        cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", count=count,
        accelerator="A100-40GB", accelerators_per_node=8,
    )  # fmt: skip
    cost = count * usd_per_h * hours
    step = hours * 3.6
    return Plan(
        cluster=Cluster(groups=(group,)),
        layout=Layout(data_parallel=8 * count),
        offer=Offer(
            cloud="aws", instance_type="p4d.24xlarge", region="us-east-1", market="spot",
            usd_per_h=usd_per_h, source="price list", as_of=dt.date(2026, 7, 20),
        ),
        step_time_s=_estimate(step, "s"),
        hours=_estimate(hours, "h"),
        cost_usd=_estimate(cost, "USD"),
        steps=1000,
        parts=StepParts(compute_s=0.7 * step, exposed_communication_s=0.2 * step, bubble_s=0.0,
                        overhead_s=0.1 * step, correction=1.1),
        memory=MemoryUse(parameters_bytes=2e9, gradients_bytes=2e9, optimizer_bytes=12e9,
                         activations_bytes=3e9, workspace_bytes=1e9, capacity_bytes=40e9,
                         out_of_memory_probability=0.01),
        bill=Bill(machines_usd=0.96 * cost, startup_usd=0.04 * cost, retries_usd=0.0),
        mfu=0.4,
        catalog_hash="c",
        data_hash="d",
        advisor_version="0.1.0",
    )  # fmt: skip


def _estimate(value: float, unit: str) -> Estimate:
    return Estimate(value=value, low=0.8 * value, high=1.25 * value, unit=unit,
                    basis="interpolated")  # fmt: skip
