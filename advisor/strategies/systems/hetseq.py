"""HetSeq: weighted synchronous steps, each device with a micro-batch of its own size."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
import pandas as pd

from advisor.domain import Workload
from advisor.domain.mixed import DeviceShare, Inventory, Label, MixParts
from advisor.strategies.exchange import exposed_s, gradient_exchange_s
from advisor.strategies.replicas import (
    fewer_samples_than_devices,
    memory_of,
    most_micro_batches,
    sample_s,
    throughputs,
)
from advisor.strategies.splitting import by_weight
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes

if TYPE_CHECKING:
    from advisor.strategies.speeds import Speeds

MOST_ACCUMULATION: Final = 64


@STRATEGIES.register("hetseq")
class HetSeq(Tabled):
    """All devices run equally many micro-batches; a device without data runs an empty one."""

    title: ClassVar[str] = "HetSeq"
    paper: ClassVar[str] = "Ding, Botzer and Weninger, 2021, arXiv 2009.14783"
    label: ClassVar[Label] = "reconstructed"

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """See `Strategy`."""
        return fewer_samples_than_devices(workload, inventory)

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:
        """Return the candidates: numbers of micro-batches that divide the batch."""
        batch = workload.global_batch
        most = min(MOST_ACCUMULATION, batch // inventory.accelerators)
        numbers = [number for number in range(1, most + 1) if batch % number == 0]
        both = [(number, again) for number in numbers for again in (0.0, 1.0)]
        return pd.DataFrame(both, columns=["accumulation", "recompute"])

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """See `Strategy`."""
        rows = zip(candidates["accumulation"], candidates["recompute"], strict=True)
        return with_outcomes(
            candidates, [_outcome(speeds, int(number), float(again)) for number, again in rows]
        )


def _outcome(speeds: Speeds, accumulation: int, recompute: float) -> Outcome | None:
    """Return ``u · max_i t_i(c_i) + T_all-reduce`` for micro-batches c_i in proportion to speed."""
    groups = speeds.inventory.groups
    most = most_micro_batches(speeds, recompute)
    per_pass = speeds.workload.global_batch // accumulation
    number = np.array([group.accelerators for group in groups])
    if not most.all() or int((most * number).sum()) < per_pass:
        return None
    of_device = np.repeat(np.arange(len(groups)), number)
    speed = throughputs(speeds, most, recompute)[of_device]
    sizes = by_weight(per_pass, speed, most[of_device].astype(float))
    rows = sorted({(int(g), int(size)) for g, size in zip(of_device, sizes, strict=True)})
    # An empty batch still takes a pass of one sample.
    busy = [sample_s(speeds, groups[g], max(size, 1), recompute) for g, size in rows]
    slowest = int(np.argmax(busy))
    compute = accumulation * busy[slowest]
    backward = speeds.pass_s(groups[rows[slowest][0]], max(rows[slowest][1], 1))[1]
    exposed = exposed_s(gradient_exchange_s(speeds.workload, speeds.inventory), backward)
    shares = tuple(
        DeviceShare(
            group=groups[g].name,
            accelerator=groups[g].accelerator,
            devices=int(((of_device == g) & (sizes == size)).sum()),
            batch=size * accumulation,
            micro_batch=size,
            micro_batches=accumulation,
            state_share=1.0,
            busy_share=min(accumulation * one / (compute + exposed), 1.0),
            memory_bytes=memory_of(speeds, groups[g], recompute).used_bytes(size),
            capacity_bytes=groups[g].memory_bytes,
        )
        for (g, size), one in zip(rows, busy, strict=True)
    )
    return Outcome(
        parts=MixParts(compute_s=compute, exposed_communication_s=exposed, bubble_s=0.0),
        log_half_width=speeds.log_half_width(speeds.inventory),
        shares=shares,
        note="full recompute" if recompute else "",
    )
