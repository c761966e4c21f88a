"""CM-DARE: checkpoints, speed of parameter-server clusters, whole runs, runs with a revocation.

All from ``data/transient/``. What was tried: checkpoints some seventy variants of features, weights
and losses (6.47–8.2 %; 48 of them with the choice inside the folds: 7.0 %), whole runs six forms
(4.2–5.1 %), scaling each curve alone or caps shared, at powers 2 to 8 of the smooth minimum
(3.7–12.9 %; the power is the predictor's, 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.transient.overheads import fit_checkpoint, replacement_s
from advisor.transient.servers import fit_clusters, fit_curves
from advisor.transient.tables import table
from benchmarks.boards.nested import conformal_sigma, leave_each_out
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Shipped

MB: Final = 1e6
CURVE: Final = ["model", "gpu", "parameter_servers"]
TRAINED_ON: Final = 4  # workers; more are predicted
STEPS: Final = 64_000
# The file of runs with a revocation does not name its cluster: its slopes fit this one.
ASSUMED: Final = "model == 'resnet-32' and gpu == 'K80' and parameter_servers == 1"
ASSUMED_WORKERS: Final = 4
TENSORS_RESNET_32: Final = 104
RUNS_OF: Final = "runs shipped with the project (CM-DARE, Google's cloud, 2018–2019)"


@BOARDS.register("cmdare_checkpoint")
def cmdare_checkpoint(_: Shipped) -> Iterator[Scored]:
    """Duration of a checkpoint, one network held out."""
    rows = table("checkpoints")
    size = rows["checkpoint_mb"].to_numpy(float) * MB
    index = rows["index_kb"].to_numpy(float)

    def predict(known: np.ndarray, asked: np.ndarray) -> FloatArray:
        return fit_checkpoint(rows[known]).seconds(size[asked], index[asked])

    measured = rows["total_duration_s"].to_numpy(float)
    yield Scored(
        name="cmdare_checkpoint",
        title="Duration of a checkpoint",
        held_out="one network",
        runs_of=RUNS_OF,
        held=leave_each_out(measured, rows["model"].to_numpy(str), predict),
        bars={"mape": 6.5},
        beside=[
            Row("peer.linear_on_size.cmdare_checkpoint.mape", 7.9, "%"),
            Row("peer.svr_rbf.cmdare_checkpoint.mape", 19.6, "%"),
        ],
    )


@BOARDS.register("cmdare_scaling")
def cmdare_scaling(_: Shipped) -> Iterator[Scored]:
    """Speed of 5 to 8 workers from curves of 1 to 4."""
    yield _scaling("cmdare_scaling", share_caps=True)
    yield _scaling("cmdare_scaling_each_alone", share_caps=False)


def _scaling(name: str, *, share_caps: bool) -> Scored:
    rows = table("scaling")
    workers = rows["workers"]
    known, asked = rows[workers <= TRAINED_ON], rows[workers > TRAINED_ON]
    # How far shorter pieces of the known curves lead astray about the rest of them.
    misses = []
    for last in range(2, TRAINED_ON):
        rest = known[known["workers"] > last]
        guess = _speeds(known[known["workers"] <= last], rest, share_caps=share_caps)
        misses.append(np.log(rest["steps_per_s"].to_numpy(float) / guess))
    return Scored(
        name=name,
        title="Speed of clusters with parameter servers",
        held_out="5 to 8 workers of every curve, of which 1 to 4 are known",
        runs_of=RUNS_OF,
        held=HeldOut(
            asked["steps_per_s"].to_numpy(float),
            _speeds(known, asked, share_caps=share_caps),
            np.full(len(asked), conformal_sigma(np.concatenate(misses))),
        ),
        bars={"mape": 6.5} if share_caps else {},
        beside=[
            Row("peer.ernest.cmdare_scaling.mape", 11.6, "%"),
            Row("peer.linear.cmdare_scaling.mape", 39.8, "%"),
        ]
        if share_caps
        else [],
    )


def _speeds(known: pd.DataFrame, asked: pd.DataFrame, *, share_caps: bool) -> FloatArray:
    found = np.empty(len(asked))
    # Without sharing every curve is fitted by itself.
    joint = fit_curves(known) if share_caps else None
    curves_of = {key: joint or fit_curves(own) for key, own in known.groupby(CURVE)}
    for key, rows in asked.assign(row=np.arange(len(asked))).groupby(CURVE):
        first = rows.iloc[0]
        found[rows["row"].to_numpy(int)] = curves_of[key].steps_per_s(
            str(first["model"]),
            str(first["gpu"]),
            int(first["parameter_servers"]),
            rows["workers"].to_numpy(float),
        )
    return found


@BOARDS.register("cmdare_runs")
def cmdare_runs(_: Shipped) -> Iterator[Scored]:
    """Time of whole runs on 31 clusters from single machines, one cluster held out."""
    clusters = _clusters()
    alone = clusters[clusters["parameter_servers"] == 0]
    single = {gpu: STEPS / float(alone.loc[alone[gpu] == 1, "median_s"].iloc[0])
              for gpu in ("k80", "p100", "v100")}  # fmt: skip
    several = clusters[clusters["parameter_servers"] > 0]
    linear = several[list(single)].to_numpy(float) @ np.array(list(single.values()))
    servers = several["parameter_servers"].to_numpy(int)
    measured = several["median_s"].to_numpy(float)

    def predict(known: np.ndarray, asked: np.ndarray) -> FloatArray:
        fitted = fit_clusters(linear[known], servers[known], STEPS / measured[known])
        return STEPS / fitted.steps_per_s(linear[asked], servers[asked])

    held = leave_each_out(measured, np.arange(len(several)), predict)
    mixed = several["gpus"].str.contains("+", regex=False).to_numpy()
    error = np.abs(held.predicted / measured - 1)[mixed] * 100
    yield Scored(
        name="cmdare_runs",
        title="Whole runs on clusters with parameter servers",
        held_out="one cluster",
        runs_of=RUNS_OF,
        held=held,
        bars={"mape": 4.5},
        beside=[
            Row("cmdare_runs.mixed_mape", float(error.mean()), "%"),
            Row("peer.sum_of_speeds.cmdare_runs.mape", 15.4, "%"),
        ],
    )


def _clusters() -> pd.DataFrame:
    keys = ["gpus", "k80", "p100", "v100", "parameter_servers", "market"]
    grouped = table("runs").groupby(keys)["training_time_s"]
    found = grouped.median().rename("median_s").reset_index()
    # Single machines are one cluster each, whatever their market.
    return found.sort_values(["parameter_servers", "gpus"]).reset_index(drop=True)


@BOARDS.register("cmdare_end_to_end")
def cmdare_end_to_end(_: Shipped) -> Iterator[Scored]:
    """Time that remains after a revocation: none fitted, then a line fitted leaving one run out."""
    rows = table("end_to_end")
    measured = rows["actual_s"].to_numpy(float)
    left = STEPS - rows["revocation_step"].to_numpy(float)

    def predict(known: np.ndarray, asked: np.ndarray) -> FloatArray:
        slope, constant = np.polyfit(left[known], measured[known], 1, w=1 / measured[known])
        return np.asarray(constant + slope * left[asked])

    held = leave_each_out(measured, np.arange(len(rows)), predict)
    worst = float((np.abs(held.predicted / measured - 1) * 100).max())
    authors = np.abs(rows["estimated_s"].to_numpy(float) / measured - 1) * 100
    yield Scored(
        name="cmdare_end_to_end_unfitted",
        title="The rest of a run after a revocation, from other measurements alone",
        held_out="all runs with a revocation",
        runs_of=RUNS_OF,
        held=HeldOut(measured, *_unfitted(left)),
    )
    yield Scored(
        name="cmdare_end_to_end",
        title="The rest of a run after a revocation",
        held_out="one run; two numbers are fitted to the others",
        runs_of=RUNS_OF,
        held=held,
        bars={"mape": 0.45},
        beside=[
            at_most("cmdare_end_to_end.max_ape", worst, "%", 1.3),
            Row("peer.authors.cmdare_end_to_end.mape", float(authors.mean()), "%"),
            Row("peer.authors.cmdare_end_to_end.max_ape", float(authors.max()), "%"),
        ],
    )


def _unfitted(left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the time of so many steps with one worker lost meanwhile, and its log spread.

    Assumed is ResNet-32 on four K80; speeds of two campaigns spread as on-demand runs of the same
    cluster do about the scaling table.
    """
    curve = table("scaling").query(ASSUMED).set_index("workers")["steps_per_s"]
    speed, fewer = float(curve[ASSUMED_WORKERS]), float(curve[ASSUMED_WORKERS - 1])
    lost_s = replacement_s(TENSORS_RESNET_32, "cold") * (1 - fewer / speed)
    runs = table("runs").query(f"gpus == '{ASSUMED_WORKERS}xK80' and market == 'on_demand'")
    other = np.log(runs["training_time_s"].to_numpy(float) * speed / STEPS)
    return left / speed + lost_s, np.full(len(left), float(np.sqrt((other**2).mean())))
