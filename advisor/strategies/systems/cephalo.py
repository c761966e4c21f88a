"""Cephalo: fully sharded data parallelism where batch and states are shared out separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import pandas as pd

from advisor.domain import Workload
from advisor.domain.mixed import DeviceShare, Inventory, Label, MixParts
from advisor.predictor.workload_columns import BYTES_PER_ELEMENT
from advisor.strategies.cephalo_planner import Kind, Network, Shared, plan_shares
from advisor.strategies.exchange import layer_gather_s
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes

if TYPE_CHECKING:
    from advisor.strategies.speeds import Speeds

# A batch is planned in so many parts at least, and four per device; exact up to that size.
PARTS: Final = 128
PARTS_PER_DEVICE: Final = 4


@STRATEGIES.register("cephalo")
class Cephalo(Tabled):
    """What a device computes follows its speed, what it stores its memory."""

    title: ClassVar[str] = "Cephalo"
    paper: ClassVar[str] = "Guo et al., 2025, doi:10.1145/3721145.3730418, arXiv 2411.01075"
    label: ClassVar[Label] = "replicated"

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """See `Strategy`."""
        if not workload.model.is_transformer:
            return "it shards transformer layers; this model has none"
        return "" if inventory.accelerators > 1 else "there is one accelerator only"

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:
        """Return the one candidate: the planner itself finds batches, micro-batches, shares."""
        least = max(PARTS, PARTS_PER_DEVICE * inventory.accelerators)
        return pd.DataFrame({"unit": [unit_of(workload.global_batch, least)]})

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """See `Strategy`."""
        return with_outcomes(candidates, [_outcome(speeds, int(one)) for one in candidates["unit"]])


def unit_of(global_batch: int, most_parts: int) -> int:
    """Return the smallest divisor of a batch that leaves at most so many parts.

    >>> unit_of(64, 128), unit_of(1024, 128), unit_of(1000, 128)
    (1, 8, 8)
    """
    return next(unit for unit in range(1, global_batch + 1)
                if global_batch % unit == 0 and global_batch // unit <= most_parts)  # fmt: skip


def _outcome(speeds: Speeds, unit: int) -> Outcome | None:
    groups = speeds.inventory.groups
    needs = [speeds.recomputed[group.name] for group in groups]
    width = BYTES_PER_ELEMENT[speeds.workload.precision]
    gather_s = layer_gather_s(speeds.workload, speeds.inventory, width)
    network = Network(
        layers=speeds.layers,
        state_bytes=max(need.state_bytes for need in needs),
        sample_bytes=unit * max(need.sample_bytes for need in needs),
        fixed_bytes=max(need.fixed_bytes for need in needs),
        gather_s=gather_s,
        scatter_s=gather_s,
    )
    kinds = tuple(
        Kind(
            devices=group.accelerators,
            times=speeds.times[group.name].in_units(unit),
            memory_bytes=group.memory_bytes,
        )
        for group in groups
    )
    plan = plan_shares(kinds, network, speeds.workload.global_batch // unit)
    return None if plan is None else _told(speeds, plan, unit)


def _told(speeds: Speeds, plan: Shared, unit: int) -> Outcome:
    groups = speeds.inventory.groups
    of_device = np.repeat(np.arange(len(groups)), [group.accelerators for group in groups])
    slowest = int(np.argmax(plan.device_s))
    step, compute = plan.layer_s * speeds.layers, float(plan.compute_s[slowest]) * speeds.layers
    table = pd.DataFrame({
        "group": of_device, "batch": plan.batch, "micro": plan.micro_batch,
        "count": plan.micro_batches, "state": plan.state_share.round(6),
        "busy": plan.compute_s * speeds.layers / step, "memory": plan.memory_bytes,
    })  # fmt: skip
    shares = []
    for _, rows in table.groupby(["group", "batch", "micro", "state"], sort=True):
        row = rows.iloc[0]
        group = groups[int(row["group"])]
        shares.append(
            DeviceShare(
                group=group.name,
                accelerator=group.accelerator,
                devices=len(rows),
                batch=row["batch"] * unit,
                micro_batch=row["micro"] * unit,
                micro_batches=int(row["count"]),
                state_share=min(row["state"], 1.0),
                busy_share=min(row["busy"], 1.0),
                memory_bytes=row["memory"],
                capacity_bytes=group.memory_bytes,
            )
        )
    exposed = max(step - compute, 0.0)
    return Outcome(
        parts=MixParts(compute_s=compute, exposed_communication_s=exposed, bubble_s=0.0),
        log_half_width=speeds.log_half_width(speeds.inventory),
        shares=tuple(shares),
        note="full recompute, states sharded",
    )
