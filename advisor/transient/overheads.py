"""What a revocation and a checkpoint cost in time, as measured on Google's cloud in 2019."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from scipy.optimize import nnls

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray, Floats
from advisor.transient.tables import table

if TYPE_CHECKING:
    import pandas as pd

MB: Final = 1e6
KB: Final = 1e3

Start = Literal["cold", "warm"]


@dataclass(frozen=True, kw_only=True)
class Overheads:
    """Times that are no training [s].

    Parameters
    ----------
    start_s : float
        From the order of a machine until it runs: provisioning, staging, booting. It is billed.
    load_s : float
        From a running machine to training: software, last checkpoint, joining the group.
    checkpoint_s : float
        Training stands still for so long while a checkpoint is written.
    wait_s : float
        After a revocation no machine of the kind can be had for so long. It is not billed.
    warm_s : float
        From a revocation to training on a machine that stands by.
    hand_over_s : float
        A parameter-server cluster stands still for so long while another worker takes over the
        chief's duty.
    """

    start_s: float = 0.0
    load_s: float = 0.0
    checkpoint_s: float = 0.0
    wait_s: float = 0.0
    warm_s: float = 0.0
    hand_over_s: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0):
                raise InvalidInputError(
                    f"{value:g} s is not possible.", where=name, todo="Give 0 s or more."
                )


@dataclass(frozen=True, slots=True)
class MeasuredStart:
    """Start of a machine [s]: mean, spread between starts, and how many were measured."""

    mean_s: float
    sd_s: float
    n: int


def measured_start(gpu: str, region: str = "", market: str = "preemptible") -> MeasuredStart | None:
    """Return the measured start of a machine; without its region, of all of them; or None.

    Parameters
    ----------
    gpu, region : str
        As in ``data/transient/startup.csv``.
    market : str
        ``"preemptible"`` or ``"on_demand"``.
    """
    rows = table("startup")
    rows = rows[(rows["gpu"] == gpu) & (rows["market"] == market)]
    here = rows[rows["region"] == region]
    rows = here if len(here) else rows
    if rows.empty:
        return None
    count = rows["n"].to_numpy(float)
    mean = rows["total_s"].to_numpy(float)
    total = float(np.average(mean, weights=count))
    spread = rows["total_sd_s"].to_numpy(float) ** 2 + (mean - total) ** 2
    return MeasuredStart(total, float(np.sqrt(np.average(spread, weights=count))), int(count.sum()))


def replacement_s(tensors: float, start: Start) -> float:
    """Time until a replaced worker trains again [s]: a constant, and a time for every tensor.

    Building the graph takes most of a warm start, so its time follows the tensors of the network,
    not its parameters. A cold start has the new machine's start in it.
    """
    constant, per_tensor = _replacement(start)
    return constant + per_tensor * tensors


@cache
def _replacement(start: Start) -> tuple[float, float]:
    rows = table("replacement")
    rows = rows[rows["start"] == start]
    design = np.column_stack([np.ones(len(rows)), rows["num_tensors"].to_numpy(float)])
    found, _ = nnls(design, rows["mean_s"].to_numpy(float))
    return float(found[0]), float(found[1])


@dataclass(frozen=True, slots=True)
class CheckpointCost:
    """Time to write a checkpoint: entries go to the disk, bytes to the store.

    Parameters
    ----------
    latency_s : float
        Of the upload, whatever its size [s].
    bandwidth_bytes_per_s : float
        Of the upload [bytes/s].
    disk_s_per_kb : float
        Local write for every kB of the index, which grows with the tensors [s/kB].
    """

    latency_s: float
    bandwidth_bytes_per_s: float
    disk_s_per_kb: float = 0.0

    def seconds(self, size_bytes: Floats, index_kb: Floats = 0.0) -> FloatArray:
        """Duration of a checkpoint [s]."""
        upload = self.latency_s + np.asarray(size_bytes, float) / self.bandwidth_bytes_per_s
        return upload + self.disk_s_per_kb * np.asarray(index_kb, float)


def fit_checkpoint(rows: pd.DataFrame) -> CheckpointCost:
    """Fit the parts of a checkpoint apart, each by relative least squares with no negative part.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns of ``data/transient/checkpoints.csv``.
    """
    local = rows["local_write_s"].to_numpy(float)
    upload = rows["upload_s"].to_numpy(float)
    index = rows["index_kb"].to_numpy(float)
    size = rows["checkpoint_mb"].to_numpy(float)
    (per_kb,), _ = nnls((index / local)[:, None], np.ones(len(rows)))
    design = np.column_stack([np.ones(len(rows)), size]) / upload[:, None]
    (latency, per_mb), _ = nnls(design, np.ones(len(rows)))
    return CheckpointCost(float(latency), float(MB / per_mb), float(per_kb))


@cache
def measured_checkpoint() -> CheckpointCost:
    """Return the fit on all measured checkpoints of 20 networks."""
    return fit_checkpoint(table("checkpoints"))
