"""Plain data parallelism: every device takes the same batch, and all wait for the slowest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from advisor.domain import Workload
from advisor.domain.mixed import Inventory, Label
from advisor.strategies.replicas import (
    fewer_samples_than_devices,
    most_micro_batches,
    recompute_candidates,
    replicated,
)
from advisor.strategies.splitting import by_weight
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes

if TYPE_CHECKING:
    import pandas as pd

    from advisor.strategies.speeds import Speeds


@STRATEGIES.register("equal_batches")
class EqualBatches(Tabled):
    """What a launcher does that does not know of differences: the baseline of the others."""

    title: ClassVar[str] = "Equal batches"
    paper: ClassVar[str] = "Li et al., 2020, arXiv 2006.15704 (PyTorch distributed data parallel)"
    label: ClassVar[Label] = "reconstructed"

    def applies(self, workload: Workload, inventory: Inventory) -> str:
        """See `Strategy`."""
        return fewer_samples_than_devices(workload, inventory)

    def plans(self, workload: Workload, inventory: Inventory) -> pd.DataFrame:  # noqa: ARG002
        """Return the candidates: activations kept, or the forward pass run again."""
        return recompute_candidates()

    def estimate(self, candidates: pd.DataFrame, speeds: Speeds) -> pd.DataFrame:
        """See `Strategy`."""
        return with_outcomes(
            candidates, [_outcome(speeds, float(one)) for one in candidates["recompute"]]
        )


def _outcome(speeds: Speeds, recompute: float) -> Outcome | None:
    most = most_micro_batches(speeds, recompute)
    if not most.all():
        return None
    equal = np.ones(speeds.inventory.accelerators)
    batches = by_weight(speeds.workload.global_batch, equal)
    return replicated(speeds, batches, most, recompute)
