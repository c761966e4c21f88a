"""The bill of the finished job, as parts that sum to it.

Nothing is rounded here: a line is rounded to the cent where a bill is written, `Bill.of`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final, TypeVar

import numpy as np

from advisor.core.units import GB, HOURS_PER_MONTH
from advisor.domain import Workload
from advisor.predictor.arrays import FloatArray, Floats
from advisor.predictor.workload_columns import workload_columns
from advisor.search.rented import billed_hours

# Two checkpoints are kept: the last, and the one before it while the last is written.
KEPT_CHECKPOINTS: Final = 2.0

Columns = TypeVar("Columns", "BillTerms", "BillUse")


@dataclass(frozen=True, slots=True, kw_only=True)
class BillTerms:
    """Prices and rules of the plans, arrays of one shape; NaN is not known.

    Attributes
    ----------
    usd_per_h : array
        Price of one machine [USD/h].
    increment_s, minimum_s : array
        What a lease is billed in, and at least [s].
    storage_usd_per_gb_month : array
        Price of storage [USD/GB-month].
    write_usd : array
        Price of one write of an object or file [USD].
    in_usd_per_gb, out_usd_per_gb : array
        Price of traffic from the data set to the machines, and back [USD/GB].
    """

    usd_per_h: Floats
    increment_s: Floats = np.nan
    minimum_s: Floats = np.nan
    storage_usd_per_gb_month: Floats = np.nan
    write_usd: Floats = np.nan
    in_usd_per_gb: Floats = 0.0
    out_usd_per_gb: Floats = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BillUse:
    """What the plans use, arrays of one shape.

    Attributes
    ----------
    machines : array
        Machines that run together.
    training_h, startup_h, interruption_h : array
        Hours of training (without retries), of starting, and those that interruptions are expected
        to add.
    retry_share : float
        Allowance for restarts and retries, as a share of the training hours.
    revocations : array or float
        Machines expected to be taken away and ordered anew.
    out_of_memory : array or float
        Chance that the first attempt runs out of memory.
    attempt_h : array or float
        Hours of an attempt that does: its start, and the first step.
    checkpoint_bytes, checkpoints : array or float
        Size of one checkpoint of the job [bytes], and how many are written.
    objects : array or float
        Objects or files of one checkpoint: one of each accelerator.
    data_bytes, result_bytes : float
        Size of the data set, and of the trained weights that go back to its place [bytes].
    """

    machines: Floats
    training_h: Floats
    startup_h: Floats = 0.0
    interruption_h: Floats = 0.0
    retry_share: float = 0.0
    revocations: Floats = 0.0
    out_of_memory: Floats = 0.0
    attempt_h: Floats = 0.0
    checkpoint_bytes: Floats = 0.0
    checkpoints: Floats = 0.0
    objects: Floats = 1.0
    data_bytes: Floats = 0.0
    result_bytes: Floats = 0.0

    @property
    def hours(self) -> FloatArray:
        """Hours from the order of the machines to the end of the job."""
        return np.asarray(
            self.training_h * (1 + self.retry_share) + self.startup_h + self.interruption_h
        )

    @property
    def leases(self) -> FloatArray:
        """Leases per machine: one that is taken away is ordered anew."""
        return np.asarray(1 + self.revocations / self.machines)


@dataclass(frozen=True, slots=True, kw_only=True)
class BillColumns:
    """Parts of the bill [USD], one row per plan; NaN where a price is not known."""

    machines_usd: FloatArray
    startup_usd: FloatArray
    retries_usd: FloatArray
    interruptions_usd: FloatArray
    rounding_usd: FloatArray
    failed_usd: FloatArray
    storage_usd: FloatArray
    writes_usd: FloatArray
    data_storage_usd: FloatArray
    traffic_usd: FloatArray

    @property
    def total_usd(self) -> FloatArray:
        """The sum of the known parts."""
        return np.asarray(sum(np.nan_to_num(getattr(self, part.name)) for part in fields(self)))


def bill_columns(terms: BillTerms, use: BillUse) -> BillColumns:
    """Price what plans use.

    Shapes broadcast: prices of shape (n, 1) and uses of shape (n, draws) give n bills per draw.
    """
    rate = np.asarray(use.machines * terms.usd_per_h)
    hours = use.hours
    extra_h = _billed(terms, hours, use.leases) - hours
    failed_h = use.out_of_memory * _billed(terms, use.attempt_h, 1.0)
    months = np.asarray(terms.storage_usd_per_gb_month * hours / HOURS_PER_MONTH)
    out_usd = use.result_bytes / GB * np.asarray(terms.out_usd_per_gb)
    parts = {
        "machines_usd": rate * use.training_h,
        "startup_usd": rate * use.startup_h,
        "retries_usd": rate * use.training_h * use.retry_share,
        "interruptions_usd": rate * use.interruption_h,
        "rounding_usd": rate * extra_h,
        "failed_usd": rate * failed_h,
        "storage_usd": KEPT_CHECKPOINTS * use.checkpoint_bytes / GB * months,
        "writes_usd": np.asarray(use.checkpoints * use.objects * terms.write_usd),
        # Nothing stored and nothing moved costs nothing, whatever the price.
        "data_storage_usd": _priced(use.data_bytes / GB, months),
        "traffic_usd": _priced(use.data_bytes / GB, np.asarray(terms.in_usd_per_gb)) + out_usd,
    }
    shape = np.broadcast_shapes(*(part.shape for part in parts.values()))
    return BillColumns(**{name: np.broadcast_to(part, shape) for name, part in parts.items()})


def total_at(terms: BillTerms, use: BillUse, hours: FloatArray) -> FloatArray:
    """Return the bills [USD] of the same plans where they take so many hours instead."""
    other = replace(
        use, training_h=(hours - use.startup_h - use.interruption_h) / (1 + use.retry_share)
    )
    return bill_columns(terms, other).total_usd


def rows_of(columns: Columns, rows: np.ndarray) -> Columns:
    """Return the given rows of every column that has rows, with an axis for draws after them."""
    values = {f.name: np.asarray(getattr(columns, f.name)) for f in fields(columns)}
    taken = {name: value[rows][:, None] for name, value in values.items() if value.ndim}
    return replace(columns, **taken)


def checkpoint_bytes(workload: Workload) -> float:
    """Size of one checkpoint [bytes]: what is trained, and its optimizer state.

    In mixed precision with AdamW 14 bytes per parameter: the weights, their float master copy
    and two moments. Frozen weights are not written again.
    """
    columns = workload_columns(workload)
    per_param = columns["bytes_per_element"] + columns["optimizer_bytes_per_param"]
    return workload.trainable_params * per_param


def result_bytes(workload: Workload) -> float:
    """Size of the trained weights [bytes]."""
    return workload.trainable_params * float(workload_columns(workload)["bytes_per_element"])


def _billed(terms: BillTerms, hours: Floats, leases: Floats) -> FloatArray:
    return billed_hours(hours, leases, terms.increment_s, terms.minimum_s)


def _priced(amount: Floats, price: FloatArray) -> FloatArray:
    return np.asarray(np.where(np.asarray(amount) == 0, 0.0, amount * price))
