"""Parameter-server clusters: speed grows with the workers until the servers saturate.

A server takes so many updates of a network a second, whichever GPU sends them. Curves of the same
network and number of servers therefore share their cap, and a slow GPU, whose curve is still
straight, learns its cap from a fast one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from advisor.core.errors import PredictionError
from advisor.predictor.arrays import FloatArray
from advisor.predictor.collectives import smooth_min

FAR_CAP: Final = 30.0  # times the fastest measured cluster: no cap is seen
# Misfits beyond this (in the logarithm) count as outliers.
OUTLIER: Final = 0.05


@dataclass(frozen=True)
class ServerCurves:
    """Speed of one worker by network, GPU and servers, and cap by network and servers [steps/s]."""

    worker: dict[tuple[str, str, int], float]
    cap: dict[tuple[str, int], float]

    def steps_per_s(self, model: str, gpu: str, servers: int, workers: FloatArray) -> FloatArray:
        """Speed of a cluster [steps/s].

        Raises
        ------
        PredictionError
            If the network was not measured on the GPU with so many servers.
        """
        key = (model, gpu, servers)
        if key not in self.worker:
            raise PredictionError(
                f"{model} was not measured on {gpu} with {servers} parameter servers.",
                where="parameter-server cluster",
            )
        linear = self.worker[key] * np.asarray(workers, float)
        return np.asarray(smooth_min(linear, self.cap[model, servers]))


def fit_curves(rows: pd.DataFrame) -> ServerCurves:
    """Fit all curves together by least squares on the logarithm.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns model, gpu, parameter_servers, workers, steps_per_s.
    """
    keys = ["model", "gpu", "parameter_servers"]
    curves = rows.groupby(keys, sort=True).ngroup().to_numpy()
    capped = rows.groupby(keys[::2], sort=True).ngroup().to_numpy()
    workers = rows["workers"].to_numpy(float)
    speed = rows["steps_per_s"].to_numpy(float)
    log_worker = _most(np.log(speed / workers), curves)
    fastest = _most(np.log(speed), capped)
    size = len(log_worker)

    def misfit(point: FloatArray) -> FloatArray:
        cap = np.exp(np.minimum(point[size:], fastest + np.log(FAR_CAP)))
        predicted = smooth_min(np.exp(point[:size])[curves] * workers, cap[capped])
        return np.asarray(np.log(predicted / speed))

    starts = (
        np.concatenate([log_worker, fastest + np.log(factor)]) for factor in (1.1, 1.3, 2.0, 8.0)
    )
    best = min((least_squares(misfit, start) for start in starts), key=lambda found: found.cost)
    caps = np.exp(np.minimum(best.x[size:], fastest + np.log(FAR_CAP)))
    first = rows.assign(curve=curves, cap=caps[capped]).drop_duplicates("curve")
    names = list(first[keys].itertuples(index=False, name=None))
    worker = dict(zip(names, np.exp(best.x[: len(log_worker)])[first["curve"]], strict=True))
    cap = {(name[0], name[2]): value for name, value in zip(names, first["cap"], strict=True)}
    return ServerCurves(worker, cap)


def _most(values: FloatArray, group: np.ndarray) -> FloatArray:
    """Return the largest value of every group."""
    out = np.full(group.max() + 1, -np.inf)
    np.maximum.at(out, group, values)
    return out


@dataclass(frozen=True)
class ClusterSpeed:
    """Speed of clusters of one network from the speeds of their workers alone.

    Parameters
    ----------
    factor : float
        A worker of a cluster, in the speed of a machine that trains alone.
    caps : dict
        Number of servers → speed that they can take [steps/s].
    """

    factor: float
    caps: dict[int, float]

    def steps_per_s(self, linear: FloatArray, servers: np.ndarray) -> FloatArray:
        """Speed from the sum of the single speeds [steps/s]."""
        cap = np.array([self.caps[int(count)] for count in servers])
        return np.asarray(smooth_min(self.factor * linear, cap))


def fit_clusters(linear: FloatArray, servers: np.ndarray, steps_per_s: FloatArray) -> ClusterSpeed:
    """Fit one factor and a cap per number of servers, robustly, on the logarithm."""
    counts = np.unique(servers)
    place = np.searchsorted(counts, servers)

    def misfit(point: FloatArray) -> FloatArray:
        predicted = smooth_min(np.exp(point[0]) * linear, np.exp(point[1:])[place])
        return np.asarray(np.log(predicted / steps_per_s))

    start = [0.0, *(float(np.log(1.05 * steps_per_s[servers == count].max())) for count in counts)]
    found = least_squares(misfit, start, loss="soft_l1", f_scale=OUTLIER)
    caps = dict(zip(counts.tolist(), np.exp(found.x[1:]).tolist(), strict=True))
    return ClusterSpeed(float(np.exp(found.x[0])), caps)
