"""Small boards for the tests: models whose predictions are off by a factor of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from job_examples import make

from advisor.predictor.components import VarianceComponents
from advisor.predictor.jobs import Jobs
from advisor.predictor.training import TrainingTable
from benchmarks.boards.left_out import LeftOut
from benchmarks.boards.store_tables import StoreTable

SIGMA, REPEAT = 0.5, 0.05
COMPONENTS = VarianceComponents(np.array([0.05, 0.05, 0.4, 0.4, 0.1]), REPEAT)
DEVICES = (8.0, 16.0, 32.0, 64.0, 128.0)
PER_DEVICE = (4.0, 16.0)


@dataclass(frozen=True)
class Board:
    """Runs of some models, and predictions that are off by ``off`` of each."""

    store: StoreTable
    left: LeftOut
    jobs: Jobs
    model: np.ndarray


def board(off: tuple[float, ...] = (2.0, 0.5), *, noise: float = 0.02, prefix: str = "") -> Board:
    """Return ten runs of every model: five sizes of cluster, two batches per device."""
    rows = [
        (model, devices, share)
        for model in range(len(off))
        for devices in DEVICES
        for share in PER_DEVICE
    ]
    model, devices, share = (np.array(column) for column in zip(*rows, strict=True))
    number = model.astype(int)
    jobs = make(
        params=1e9 * 2.0**number, forward_flops_per_sample=1e13 * 2.0**number,
        data_parallel=devices, global_batch=devices * share, micro_batch=share,
    )  # fmt: skip
    measured = (1 + number) * share * np.exp(np.random.default_rng(0).normal(0, noise, len(rows)))
    name = np.array([f"model {one}" for one in number])
    table = TrainingTable(
        jobs=jobs,
        step_s=measured,
        config=np.array([f"{one}|{size:g}" for one, size in zip(name, devices, strict=True)]),
        source=np.full(len(rows), "bench"),
        rows=np.arange(len(rows)),
    )
    frame = pd.DataFrame({"source": "bench", "model": name, "precision": "bf16"})
    left = LeftOut(
        rows=np.arange(len(rows)),
        measured=measured,
        predicted=(1 + number) * share * np.array(off)[number],
        log_sigma=np.full(len(rows), SIGMA),
        difficulty=np.zeros(len(rows), dtype=int),
        fold=np.zeros(len(rows), dtype=int),
        components=(COMPONENTS,),
    )
    return Board(StoreTable(prefix, frame, table, {"model": name}), left, jobs, name)
