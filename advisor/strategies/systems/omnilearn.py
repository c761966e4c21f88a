"""OmniLearn: every device takes a batch in proportion to its speed, so that all finish together."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from advisor.domain import Workload
from advisor.domain.mixed import Inventory, Label
from advisor.predictor.arrays import FloatArray
from advisor.strategies.replicas import (
    fewer_samples_than_devices,
    most_micro_batches,
    recompute_candidates,
    replicated,
    throughputs,
)
from advisor.strategies.splitting import by_weight
from advisor.strategies.strategy import STRATEGIES, Outcome, Tabled, with_outcomes

if TYPE_CHECKING:
    import pandas as pd

    from advisor.strategies.speeds import Speeds


@STRATEGIES.register("omnilearn")
class OmniLearn(Tabled):
    """Batches of unequal size, gradients weighted by them; all devices hold the whole model."""

    title: ClassVar[str] = "OmniLearn"
    paper: ClassVar[str] = "Tyagi and Sharma, 2025, doi:10.1109/TPDS.2025.3553066, arXiv 2503.17469"
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


def ideal_batches(global_batch: int, speed: FloatArray) -> FloatArray:
    """Return the batch of every worker at which all take equally long, ``b_k = B · X_k / ΣX``.

    The fixed point of the published controller, before clamping and rounding.

    Parameters
    ----------
    speed : array, shape (n,)
        Samples per second of every worker, or what it is in proportion to.

    Examples
    --------
    >>> ideal_batches(128, np.array([12.0, 12.0, 8.0, 16.0])).round(2).tolist()
    [32.0, 32.0, 21.33, 42.67]
    """
    return np.asarray(global_batch * speed / speed.sum())


def time_saved(speed: FloatArray) -> float:
    """Return the share of compute time saved against equal batches, ``1 - K · min X / ΣX``.

    A bound: from ``(B / K) / min X`` to ``B / ΣX``. The headline of the paper, 85 %, lies beyond
    what its own splits of cores allow (67 %), so it counts more than this.

    Examples
    --------
    >>> round(time_saved(np.array([6.0, 6.0, 4.0, 32.0])), 2)
    0.67
    """
    return float(1 - len(speed) * speed.min() / speed.sum())


def _outcome(speeds: Speeds, recompute: float) -> Outcome | None:
    most = most_micro_batches(speeds, recompute)
    if not most.all():
        return None
    number = [group.accelerators for group in speeds.inventory.groups]
    speed = np.repeat(throughputs(speeds, most, recompute), number)
    batches = by_weight(speeds.workload.global_batch, speed)
    return replicated(speeds, batches, most, recompute)
