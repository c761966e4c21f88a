"""vTrain's measured iterations on A100: one (width, depth) of GPT held out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.predictor.model import StepTimeModel
from advisor.predictor.training import training_table
from benchmarks.boards.context import stack
from benchmarks.boards.leaks import without_board_rows
from benchmarks.boards.left_out import leave_each_out
from benchmarks.boards.registry import BOARDS, ROWS_BOARDS
from benchmarks.boards.scoring import HeldOut, Scored
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.predictor.jobs import Jobs
    from advisor.predictor.model import Prediction
    from advisor.predictor.training import TrainingTable
    from benchmarks.boards.context import Context
    from benchmarks.boards.left_out import LeftOut

BARS: Final = {"vtrain_single": 2.0, "vtrain_multi": 8.0}
TITLES: Final = {
    "vtrain_single": "Language models on one machine of A100",
    "vtrain_multi": "Language models on 64 to 512 A100",
}
SPREAD_FOLDS: Final = 3  # with vTrain's layouts a fit with its interval takes long
# As published for the full public sets of 1,440 and 109 rows.
PEERS: Final = {
    "vtrain_single": {"vtrain": 8.4, "calculon": 38.9, "llm_analysis": 59.9,
                      "calculon_extratrees": 2.0},
    "vtrain_multi": {"vtrain": 14.7, "calculon": 12.9, "llm_analysis": 24.5,
                     "calculon_extratrees": 8.3},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NetworksLeftOut:
    """Left-out runs: jobs, predictions and the name of each one's network; some were refused."""

    jobs: Jobs
    left: LeftOut
    network: np.ndarray
    refused: int


@BOARDS.register("vtrain_single")
def vtrain_single(context: Context) -> Iterator[Scored]:
    """Single node, 2 to 8 A100."""
    yield from _board(context, "vtrain_single")


@BOARDS.register("vtrain_multi")
def vtrain_multi(context: Context) -> Iterator[Scored]:
    """64 to 512 A100."""
    yield from _board(context, "vtrain_multi")


@ROWS_BOARDS.register("vtrain_single")
def vtrain_single_rows(context: Context, raw: pd.DataFrame) -> Iterator[Scored]:
    """Rows of the user's on one machine."""
    yield from _rows(context, "vtrain_single", raw)


@ROWS_BOARDS.register("vtrain_multi")
def vtrain_multi_rows(context: Context, raw: pd.DataFrame) -> Iterator[Scored]:
    """Rows of the user's on many machines."""
    yield from _rows(context, "vtrain_multi", raw)


def _rows(context: Context, board: str, raw: pd.DataFrame) -> Iterator[Scored]:
    """Predict given rows from the board's own and the store; a row that is the board's is not."""
    given = vtrain_runs(raw)
    own = read_vtrain(context.reference / "data" / "boards" / f"{board}.csv")
    training = training_table(without_board_rows(own, given, context.catalog), context.catalog)
    asked = training_table(given, context.catalog, plausible_only=False)
    held = None
    if len(asked.rows):
        prediction = _predict(stack(context.shipped, training), asked.jobs)
        held = HeldOut(asked.step_s, prediction.step_s, prediction.log_sigma)
    yield Scored(
        name=board,
        title=TITLES[board],
        held_out="every run of the file",
        runs_of="the user's file",
        held=held,
        beside=[Row(f"{board}.n_refused", float(len(given) - len(asked.rows)), "rows")],
    )


def read_vtrain(path: Path) -> pd.DataFrame:
    """Return the board's rows with the store's column names."""
    return vtrain_runs(pd.read_csv(path))


def vtrain_runs(raw: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the board's columns under the store's column names."""
    layout = "dp=" + raw["dp"].astype(str) + ";tp=" + raw["tp"].astype(str)
    return pd.DataFrame(
        {
            "model": "GPT " + raw["layers"].astype(str) + "L h" + raw["hidden"].astype(str),
            "family": "language",
            "params": np.nan,
            "layers": raw["layers"],
            "hidden": raw["hidden"],
            "sample_size": raw["seq_len"],
            "forward_flops_per_sample": np.nan,
            "dataset": "",
            "framework": "Megatron-DeepSpeed",
            "year": 2022,
            "precision": "fp16",
            "accelerator": raw["gpu"],
            "accelerators": raw["gpus"],
            "nodes": np.ceil(raw["gpus"] / 8),
            "instance_type": "",
            "interconnect": "",
            "parallelism": layout + ";pp=" + raw["pp"].astype(str) + ";act_ckpt=True",
            "global_batch": raw["global_batch"],
            "micro_batch": raw["micro_batch"],
            "step_time_s": raw["step_time_s"],
            "source": "vtrain",
        }
    )


@functools.lru_cache(maxsize=2)
def left_out_networks(context: Context, board: str) -> NetworksLeftOut:
    """Return the predictions of every (width, depth) by fits that have not seen it."""
    frame = read_vtrain(context.reference / "data" / "boards" / f"{board}.csv")
    own = training_table(frame, context.catalog)
    group = networks(frame)[own.rows]
    both = stack(context.shipped, own)
    names = np.concatenate([np.full(len(context.shipped.rows), ""), group])
    left = leave_each_out(both, names, names, np.unique(group).tolist(), quick=context.quick,
                          number=SPREAD_FOLDS)  # fmt: skip
    return NetworksLeftOut(both.jobs.take(left.rows), left, names[left.rows],
                           refused=len(frame) - len(own.rows))  # fmt: skip


def _board(context: Context, board: str) -> Iterator[Scored]:
    found = left_out_networks(context, board)
    peers = [Row(f"peer.{peer}.{board}.mape", value, "%") for peer, value in PEERS[board].items()]
    yield Scored(
        name=board,
        title=TITLES[board],
        held_out="language models of one width and depth",
        runs_of="public runs of vTrain",
        held=found.left.held,
        bars={"mape": BARS[board]},
        beside=[Row(f"{board}.n_refused", float(found.refused), "rows"), *peers],
    )


def networks(frame: pd.DataFrame) -> np.ndarray:
    """Return the (width, depth) of every run of vTrain as a name."""
    return (frame["hidden"].astype(str) + "x" + frame["layers"].astype(str)).to_numpy(str)


def _predict(training: TrainingTable, jobs: Jobs) -> Prediction:
    model = StepTimeModel.fit(training.jobs, training.step_s, training.config, training.source)
    return model.predict(jobs)
