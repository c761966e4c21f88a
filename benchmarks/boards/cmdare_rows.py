"""CM-DARE by its authors' protocol: random rows held out, which flatters every learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.stats import t as student
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVR
from sklearn.utils import shuffle

from advisor.predictor.additive import AdditiveCostRegressor
from advisor.predictor.convnet_work import DATA_SHEET_COSTS
from advisor.transient.overheads import fit_checkpoint
from advisor.transient.tables import table
from benchmarks.boards.cmdare import MB, RUNS_OF
from benchmarks.boards.cmdare_speed import Steps
from benchmarks.boards.nested import HALF_WIDTH
from benchmarks.boards.registry import BOARDS
from benchmarks.boards.scoring import LEVEL, HeldOut, Scored
from benchmarks.report import Row, below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from advisor.predictor.arrays import FloatArray
    from benchmarks.boards.context import Shipped

ROW_FOLDS: Final = 5
TREES: Final = 200


@BOARDS.register("cmdare_paper_protocol")
def cmdare_paper_protocol(shipped: Shipped) -> Iterator[Scored]:
    """Random rows held out, as the authors did: every network is in training too."""
    parts, beside, peers = [], [], []
    for gpu, published in (("K80", 9.96), ("P100", 13.79)):
        rows = table("speeds").query(f"gpu == '{gpu}'").reset_index(drop=True)
        steps = Steps.of(rows, shipped.catalog)
        known, asked = train_test_split(shuffle(np.arange(len(rows)), random_state=0),
                                        test_size=0.2, random_state=0)  # fmt: skip
        held = _rows_held_out(
            steps.step_s, steps.models, np.log(steps.work), _additive(steps), known, asked
        )
        svr = _support_vectors(rows, known, asked)
        name = f"cmdare_paper_protocol.{gpu.lower()}_mape"
        beside.append(below(name, _mape(held), "%", min(published, *svr.values())))
        peers += [Row(f"peer.{kind}.{name}", value, "%") for kind, value in svr.items()]
        parts.append(held)
    rows = table("checkpoints")
    features = np.log(rows[["checkpoint_mb", "index_kb"]].to_numpy(float))
    known, asked = train_test_split(np.arange(len(rows)), test_size=0.2, random_state=0)
    measured = rows["total_duration_s"].to_numpy(float)
    held = _rows_held_out(
        measured, rows["model"].to_numpy(str), features, _checkpoint(rows), known, asked
    )
    name = "cmdare_paper_protocol.checkpoint_mape"
    peers.append(Row(f"peer.svr_rbf.{name}", 5.38, "%"))
    yield Scored(
        name="cmdare_paper_protocol",
        title="Step of a CNN and duration of a checkpoint, rows held out",
        held_out="one row in five: its network is in training, the figure flatters",
        runs_of=RUNS_OF,
        held=_joined(parts),
        beside=[*beside, below(name, _mape(held), "%", 5.38), *peers],
    )


def _additive(steps: Steps) -> Callable[[np.ndarray], FloatArray]:
    def predict(known: np.ndarray) -> FloatArray:
        fitted = AdditiveCostRegressor(prior=DATA_SHEET_COSTS)
        fitted.fit(steps.work[known], steps.step_s[known], steps.models[known])
        return fitted.predict(steps.work)

    return predict


def _checkpoint(rows: pd.DataFrame) -> Callable[[np.ndarray], FloatArray]:
    size = rows["checkpoint_mb"].to_numpy(float) * MB

    def predict(known: np.ndarray) -> FloatArray:
        return fit_checkpoint(rows.iloc[known]).seconds(size, rows["index_kb"].to_numpy(float))

    return predict


def _rows_held_out(
    measured: FloatArray,
    models: np.ndarray,
    features: FloatArray,
    physics: Callable[[np.ndarray], FloatArray],
    known: np.ndarray,
    asked: np.ndarray,
) -> HeldOut:
    """Predict rows by physics and a learned correction.

    The spread is that of the network's own rows in folds of `known`: a row split has them all.
    """

    def predict(train: np.ndarray, test: np.ndarray) -> FloatArray:
        base = physics(train)
        learner = ExtraTreesRegressor(TREES, random_state=0)
        learner.fit(features[train], np.log(measured[train] / base[train]))
        return np.asarray(base[test] * np.exp(learner.predict(features[test])))

    miss = np.empty(len(measured))
    for rest, held in KFold(ROW_FOLDS).split(known):
        miss[known[held]] = np.log(measured[known[held]] / predict(known[rest], known[held]))
    sigma = [_student_sigma(miss[known][models[known] == model]) for model in models[asked]]
    return HeldOut(measured[asked], predict(known, asked), np.array(sigma))


def _student_sigma(miss: FloatArray) -> float:
    """Return the standard deviation with the 90 % interval of Student's t, as `miss` is short."""
    wider = float(student.ppf(0.5 + LEVEL / 2, len(miss))) / HALF_WIDTH
    return wider * float(np.sqrt((miss**2).mean()))


def _support_vectors(rows: pd.DataFrame, known: np.ndarray, asked: np.ndarray) -> dict[str, float]:
    """Return the authors' regressors on the FLOPs, with their settings: MAPE [%]."""
    feature = minmax_scale(rows["model_gflops"].to_numpy(float)[:, None])
    step = rows["step_time_s"].to_numpy(float)
    learners = {
        "svr_poly2": SVR(kernel="poly", degree=2, coef0=1, gamma="auto", C=100, epsilon=0.01),
        "svr_rbf": SVR(gamma="auto", C=100, epsilon=0.01),
    }
    return {
        name: _mape(HeldOut(step[asked],
                            learner.fit(feature[known], step[known]).predict(feature[asked])))
        for name, learner in learners.items()
    }  # fmt: skip


def _mape(held: HeldOut) -> float:
    return float(np.abs(held.predicted / held.measured - 1).mean() * 100)


def _joined(parts: list[HeldOut]) -> HeldOut:
    sigma = [part.log_sigma for part in parts if part.log_sigma is not None]
    return HeldOut(
        np.concatenate([part.measured for part in parts]),
        np.concatenate([part.predicted for part in parts]),
        np.concatenate(sigma),
    )
