"""The published cells of DT-FM and its peers: what was known before each ran, and physical terms.

What the file says of the five networks is a range for each: its middle stands for the links
between stages; exchange groups that span the widest range have its geometric mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.core.units import GBIT_PER_S
from advisor.predictor.wan import far_pipeline, window_limited_bytes_per_s

if TYPE_CHECKING:
    from advisor.predictor.arrays import FloatArray

SYSTEMS: Final = {
    "Ours w scheduler": "dtfm",
    "Ours wo Scheduler": "dtfm_random",
    "Megatron-P8": "megatron",
    "Megatron-P8 (Default)": "megatron",
    "Deepspeed PP": "deepspeed",
    "ZeRO S3": "zero3",
    "Deepspeed S3": "zero3",
}
DEVICES: Final = 64
STAGES: Final = 8
REPLICAS: Final = 8
HIDDEN: Final = 2048
TOKENS: Final = 2048
# fp16 between stages, fp32 gradients.
ACTIVATION_BYTES: Final = 2.0 * TOKENS * HIDDEN
LAYER_PARAMS: Final = 12.0 * HIDDEN**2
# Of forward, recomputed forward and backward, the forward pass is a quarter.
FORWARD_SHARE: Final = 0.25
WITHIN_CAMPUS_RTT_S: Final = 0.010
# Micro-batches of the single pipelines that were run at every depth.
DEPTH_BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Network:
    """Links of one of the five networks [bytes/s, s].

    ``slow_hops`` of a pipeline's seven links have the bandwidth ``slow``, the others ``fast``;
    ``exchange`` is what a replica of a stage sends to the others; ``tcp`` says that stages talk
    over sockets.
    """

    slow: float
    slow_hops: int
    fast: float
    delays_s: float
    exchange: float
    tcp: bool


NETWORKS: Final = {
    # Eight devices of a machine share its 25 Gbit/s; a pipeline stays inside.
    1: Network(100 * GBIT_PER_S, 0, 100 * GBIT_PER_S, 0.0, 25 / 8 * GBIT_PER_S, tcp=False),
    2: Network(10 * GBIT_PER_S, 7, 10 * GBIT_PER_S, 0.0007, 10 * GBIT_PER_S, tcp=True),
    3: Network(1.16 * GBIT_PER_S, 1, 5 * GBIT_PER_S, 0.011 + 6 * 0.005,
               float(window_limited_bytes_per_s(5 * GBIT_PER_S, WITHIN_CAMPUS_RTT_S)), tcp=True),
    4: Network(1.125 * GBIT_PER_S, 3, 2 * GBIT_PER_S, 0.15, 2 * GBIT_PER_S, tcp=True),
    5: Network(0.75 * GBIT_PER_S, 7, 2 * GBIT_PER_S, 0.6, 0.6 * GBIT_PER_S, tcp=True),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constants:
    """Of the system itself, from its single pipelines on even networks [s].

    ``layer_s`` is forward, recomputation and backward of one sample through one layer;
    ``socket_s`` what each micro-batch costs a stage that talks over sockets.
    """

    layer_s: float
    socket_s: float


def read_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the five networks: case, system, layers, batch, step_time_s."""
    case = frame["table_or_figure"].str.extract(r"NeurIPS.*Case (\d)")[0]
    system = frame["setup"].str.extract(r"system=([^;]+)")[0].map(SYSTEMS)
    kept = case.notna() & system.notna() & (frame["metric"] == "iteration_time")
    rows = frame[kept]
    return pd.DataFrame(
        {
            "case": case[kept].astype(int),
            "system": system[kept],
            "layers": rows["model"].str.extract(r"L(\d+)")[0].astype(int),
            "batch": rows["batch"].astype(int),
            "step_time_s": rows["value"].astype(float),
        }
    ).reset_index(drop=True)


def constants(frame: pd.DataFrame) -> Constants:
    """Return the system's constants from its single pipelines on the default network.

    Their slopes: over depth at 64 micro-batches, and over micro-batches at 24 layers.
    """
    single = frame[frame["setup"].str.startswith("single GPipe pipeline of 8", na=False)]
    single = single[single["network"].str.startswith("default", na=False)]
    layers = single["model"].str.extract(r"L(\d+)")[0].astype(int).to_numpy() / STAGES
    batch, step = single["batch"].astype(float).to_numpy(), single["value"].astype(float).to_numpy()
    same = batch == DEPTH_BATCH
    layer = np.polyfit(layers[same], step[same], 1)[0] / (DEPTH_BATCH + STAGES - 1)
    shallow = layers == layers.min()
    per_batch = np.polyfit(batch[shallow], step[shallow], 1)[0]
    return Constants(float(layer), float(per_batch - layer * layers.min()))


def terms(cells: pd.DataFrame, of: Constants) -> FloatArray:
    """Return compute with the bubble, exposed transfers and exchange of every cell [s]."""
    rows = [
        _sharded(int(case), int(layers), int(batch), of)
        if system == "zero3"
        else _pipelined(int(case), int(layers), int(batch), of)
        for case, system, layers, batch in cells[["case", "system", "layers", "batch"]].to_numpy()
    ]
    return np.array(rows)


def _pipelined(case: int, layers: int, batch: int, of: Constants) -> list[float]:
    network = NETWORKS[case]
    busy = of.layer_s * layers / STAGES
    socket = of.socket_s / 2 if network.tcp else 0.0
    fast = ACTIVATION_BYTES / network.fast
    slow = ACTIVATION_BYTES / network.slow
    hops = STAGES - 1
    found = far_pipeline(
        forward_s=busy * FORWARD_SHARE + socket,
        backward_s=busy * (1 - FORWARD_SHARE) + socket,
        stages=STAGES,
        micro_batches=batch / REPLICAS,
        slowest_transfer_s=slow if network.slow_hops else fast,
        path_s=network.slow_hops * slow + (hops - network.slow_hops) * fast + network.delays_s,
    )
    gradients = 4 * LAYER_PARAMS * layers / STAGES
    exchange = 2 * (REPLICAS - 1) / REPLICAS * gradients / network.exchange
    return [float(found.compute_s[0]), float(found.transfer_s[0]), exchange]


def _sharded(case: int, layers: int, batch: int, of: Constants) -> list[float]:
    """ZeRO-3: every micro-batch gathers the fp16 weights twice and scatters gradients once."""
    network = NETWORKS[case]
    samples = batch / DEVICES
    gathered = 3 * 2 * LAYER_PARAMS * layers * samples / network.slow
    return [samples * layers * of.layer_s, gathered, 0.0]
