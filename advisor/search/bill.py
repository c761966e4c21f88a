"""The bill of the finished job, as parts that sum to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.core.units import GB, HOURS_PER_MONTH
from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray, Floats
from advisor.predictor.workload_columns import workload_columns

# Two checkpoints are kept: the last, and the one before it while the last is written.
KEPT_CHECKPOINTS: Final = 2.0


@dataclass(frozen=True, slots=True)
class BillColumns:
    """Parts of the bill [USD], one row per plan; storage is NaN where no price is known."""

    machines_usd: FloatArray
    startup_usd: FloatArray
    retries_usd: FloatArray
    interruptions_usd: FloatArray
    storage_usd: FloatArray

    @property
    def total_usd(self) -> FloatArray:
        """The sum of the known parts."""
        rent = self.machines_usd + self.startup_usd + self.retries_usd + self.interruptions_usd
        return rent + np.nan_to_num(self.storage_usd)


def bill_columns(
    *,
    machines: FloatArray,
    usd_per_h: FloatArray,
    training_h: FloatArray,
    startup_h: FloatArray,
    interruption_h: FloatArray,
    retry_share: float,
    checkpoint_bytes: Floats,
    storage_usd_per_gb_month: FloatArray,
) -> BillColumns:
    """Price plans; machines are billed by the second, as AWS, GCP and Azure do.

    Parameters
    ----------
    machines, usd_per_h, training_h, startup_h : array
        Machines, price of one [USD/h], hours of training (without retries) and of starting.
    interruption_h : array
        Hours that interruptions are expected to add.
    retry_share : float
        Allowance for restarts and retries, as a share of the training hours.
    checkpoint_bytes : array or float
        Size of one checkpoint [bytes].
    storage_usd_per_gb_month : array
        Price of storage [USD/GB-month]; NaN where not known.
    """
    rate = machines * usd_per_h
    hours = training_h * (1 + retry_share) + startup_h + interruption_h
    stored = KEPT_CHECKPOINTS * checkpoint_bytes / GB
    return BillColumns(
        machines_usd=rate * training_h,
        startup_usd=rate * startup_h,
        retries_usd=rate * training_h * retry_share,
        interruptions_usd=rate * interruption_h,
        storage_usd=np.asarray(stored * storage_usd_per_gb_month * hours / HOURS_PER_MONTH),
    )


def checkpoint_bytes(workload: Workload) -> float:
    """Size of one checkpoint [bytes]: what is trained, and its optimizer state.

    In mixed precision with AdamW 14 bytes per parameter: the weights, their float master copy
    and two moments. Frozen weights are not written again.
    """
    columns = workload_columns(workload)
    per_param = columns["bytes_per_element"] + columns["optimizer_bytes_per_param"]
    return workload.trainable_params * per_param
