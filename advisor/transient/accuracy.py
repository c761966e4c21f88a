"""What asynchronous workers cost in accuracy, as measured: it is no free speed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from advisor.transient.tables import table

GPU: Final = "K80"
SETTING: Final = "ResNet-32 on CIFAR-10, 64,000 steps, asynchronous, Google's cloud, 2019"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Top-1 accuracy of runs with so many workers: mean and how many runs."""

    workers: int
    top1: float
    n: int


@cache
def measured_accuracy() -> tuple[Accuracy, ...]:
    """Return the accuracy by workers: K80 with at most one parameter server, spot where it was."""
    runs = table("runs")
    alike = (runs["p100"] + runs["v100"] == 0) & (runs["parameter_servers"] <= 1)
    # Of eight, those on spot: the figure that goes with the transient bill.
    alike &= (runs["market"] == "preemptible") | (runs["k80"] == 1)
    grouped = runs[alike].groupby("k80")["top1_accuracy"].agg(["mean", "size"]).reset_index()
    return tuple(
        Accuracy(int(row["k80"]), float(row["mean"]), int(row["size"]))
        for row in grouped.to_dict("records")
    )


def accuracy_near(workers: int) -> tuple[Accuracy, Accuracy]:
    """Return the accuracy of one worker, and that of the measured number nearest to `workers`."""
    known = measured_accuracy()
    distances = [abs(np.log(one.workers / workers)) for one in known]
    return known[0], known[int(np.argmin(distances))]
