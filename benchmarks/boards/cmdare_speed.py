"""CM-DARE: the step of an unseen CNN on one K80 or P100, within its family and across families.

All from ``data/transient/speeds.csv`` and the layers that the zoo counts. What was tried is told in
``docs/accuracy.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor import zoo
from advisor.predictor.additive import AdditiveCostRegressor
from advisor.predictor.convnet_work import DATA_SHEET_COSTS, convnet_work
from advisor.predictor.hardware import facts_of
from advisor.transient.tables import table
from advisor.zoo.kinds.convnet import ConvNet
from benchmarks.boards.cmdare import RUNS_OF
from benchmarks.boards.nested import HALF_WIDTH
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from advisor.catalog import Catalog
    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Shipped

CATALOG_NAMES: Final = {"K80": "K80", "P100": "P100-PCIe-16GB"}
BATCH: Final = 128
SIDE: Final = 32


@dataclass(frozen=True)
class Steps:
    """Measured steps [s] with their work, one row per measurement."""

    rows: pd.DataFrame
    work: FloatArray

    @classmethod
    def of(cls, rows: pd.DataFrame, catalog: Catalog) -> Steps:
        """Add the work of every row's network on its device."""
        facts = facts_of(catalog, rows["gpu"].map(CATALOG_NAMES))
        columns = zip(rows["model"], facts["peak_fp32_flops"], facts["memory_bytes_per_s"],
                      strict=True)  # fmt: skip
        return cls(rows, np.stack([_work(*row) for row in columns]))

    @property
    def step_s(self) -> FloatArray:
        """Measured steps."""
        return self.rows["step_time_s"].to_numpy(float)

    @property
    def models(self) -> np.ndarray:
        """Networks."""
        return self.rows["model"].to_numpy(str)

    @property
    def families(self) -> np.ndarray:
        """Shake-Shake or ResNet."""
        return np.where(self.rows["model"].str.startswith("shake"), "Shake-Shake", "ResNet")


def _work(model: str, peak_flops: float, memory_bytes_per_s: float) -> FloatArray:
    architecture = zoo.get(model)
    if not isinstance(architecture, ConvNet):
        raise TypeError(f"{model} is no CNN")
    return convnet_work(architecture.count(SIDE), BATCH, peak_flops, memory_bytes_per_s)


def _means(catalog: Catalog) -> Steps:
    """Return one row per network and GPU: windows of one run are near-copies."""
    found = table("speeds").groupby(["model", "gpu"])["step_time_s"].mean()
    return Steps.of(found.reset_index(), catalog)


@BOARDS.register("cmdare_step")
def cmdare_step(shipped: Shipped) -> Iterator[Scored]:
    """Step of a network that was measured on no GPU."""
    steps = _means(shipped.catalog)
    held = _without(steps, steps.models)
    yield Scored(
        name="cmdare_step",
        title="Step of a CNN on one K80 or P100",
        held_out="one network, on both GPUs",
        runs_of=RUNS_OF,
        held=held,
        bars={"mape": 5.5},
        beside=[*_by_gpu("cmdare_step", steps, held),
                Row("peer.svr_poly2_k80.cmdare_step.mape", 11.1, "%"),
                Row("peer.svr_poly2_p100.cmdare_step.mape", 17.2, "%"),
                Row("peer.additive_flops_tensors.cmdare_step.mape", 5.8, "%")],
    )  # fmt: skip


@BOARDS.register("cmdare_family")
def cmdare_family(shipped: Shipped) -> Iterator[Scored]:
    """Step of ResNets from Shake-Shake networks and the other way round."""
    steps = _means(shipped.catalog)
    held = _without(steps, steps.families)
    spread = np.zeros(0) if held.log_sigma is None else held.log_sigma
    inside = np.abs(np.log(held.measured / held.predicted)) <= HALF_WIDTH * spread
    yield Scored(
        name="cmdare_family",
        title="Step of a CNN of another family on one K80 or P100",
        held_out="one family of networks, on both GPUs",
        runs_of=RUNS_OF,
        held=held,
        bars={"mape": 25.0},
        beside=[at_least("cmdare_family.share_covered", float(inside.mean()), "share", 0.85),
                *_by_gpu("cmdare_family", steps, held),
                Row("peer.additive_flops_tensors.cmdare_family.mape", 34.0, "%")],
    )  # fmt: skip


def _without(steps: Steps, labels: np.ndarray) -> HeldOut:
    """Predict every group from the others; a GPU is fitted alone, its prior is its data sheet."""
    predicted, sigma = np.empty(len(labels)), np.empty(len(labels))
    gpu = steps.rows["gpu"].to_numpy(str)
    for name in np.unique(labels):
        for device in CATALOG_NAMES:
            known = (labels != name) & (gpu == device)
            asked = (labels == name) & (gpu == device)
            fitted = AdditiveCostRegressor(prior=DATA_SHEET_COSTS)
            fitted.fit(steps.work[known], steps.step_s[known], steps.models[known])
            predicted[asked] = fitted.predict(steps.work[asked])
            sigma[asked] = fitted.log_sigma(steps.work[asked])
    return HeldOut(steps.step_s, predicted, sigma)


def _by_gpu(board: str, steps: Steps, held: HeldOut) -> list[Row]:
    percent = np.abs(held.predicted / held.measured - 1) * 100
    return [Row(f"{board}.{str(name).lower()}_mape", float(found), "%")
            for name, found in steps.rows.assign(percent=percent).groupby("gpu")["percent"].mean()
            .items()]  # fmt: skip
