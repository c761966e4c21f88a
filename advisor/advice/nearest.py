"""The measured runs nearest to a prediction: what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pandas as pd

from advisor.predictor.arrays import FloatArray
from advisor.predictor.jobs import Jobs
from advisor.predictor.training import training_table
from advisor.store import Store

if TYPE_CHECKING:
    from advisor.advice.engine import Engine

SHOWN: Final = 5
COLUMNS: Final = ("source", "url", "year", "model", "accelerator", "accelerators", "framework",
                  "precision", "parallelism", "global_batch", "sample_size")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """All runs the predictor learnt from, where it sees them.

    ``runs`` has `COLUMNS` and ``measured_s`` of one global batch; ``jobs`` and ``points``, the
    place of each in the learner's space of features, have its rows.
    """

    runs: pd.DataFrame
    jobs: Jobs
    points: FloatArray

    @classmethod
    def load(cls, engine: Engine) -> Self:
        """Read the runs of the store that the predictor was trained on.

        Own runs that no refit has learnt yet are not among them: a prediction does not rest on
        what the predictor has not seen.
        """
        basis = engine.predictor.basis
        with Store.open() as store:
            profiles = store.profiles() if basis is None else basis.runs(store)
        table = training_table(profiles, engine.catalog)
        runs = profiles.iloc[table.rows][list(COLUMNS)].reset_index(drop=True)
        return cls(
            runs=runs.assign(measured_s=table.step_s),
            jobs=table.jobs,
            points=_points(engine, table.jobs),
        )

    def nearest(self, engine: Engine, job: Jobs) -> pd.DataFrame:
        """Return the `SHOWN` runs nearest to a job, each configuration once.

        Parameters
        ----------
        job : Jobs
            One row.

        Returns
        -------
        DataFrame
            Columns of ``runs``; ``predicted_s`` of the same step, by a predictor that has seen
            the run; ``distance``, in units of the usual gap between runs; ``row``, the position
            in ``jobs``.
        """
        correction = engine.predictor.model.point.correction
        distance = np.linalg.norm(self.points - _points(engine, job), axis=1) / correction.gap_
        ranked = self.runs.assign(distance=distance, row=np.arange(len(self.runs)))
        ranked = ranked.sort_values("distance", kind="stable")
        distinct = ["model", "accelerator", "accelerators", "parallelism", "global_batch"]
        near = ranked.drop_duplicates(distinct).head(SHOWN).reset_index(drop=True)
        predicted, _, _ = engine.predictor.model.point.predict(
            self.jobs.take(near["row"].to_numpy())
        )
        return near.assign(predicted_s=predicted.total_s)


def _points(engine: Engine, jobs: Jobs) -> FloatArray:
    """Return the place of every job in the learner's space, shape (jobs, features)."""
    point = engine.predictor.model.point
    return np.asarray(point.correction.scaler_.transform(point.features(jobs)))
