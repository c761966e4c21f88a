"""The measured runs nearest to a prediction: what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pandas as pd

from advisor.predictor.arrays import FloatArray
from advisor.predictor.training import training_table
from advisor.store import Store

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.search.exact import BestLayouts

SHOWN: Final = 5
COLUMNS: Final = ("source", "url", "year", "model", "accelerator", "accelerators", "framework",
                  "precision", "parallelism", "global_batch", "sample_size")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """All runs the predictor learnt from, where it sees them."""

    runs: pd.DataFrame
    points: FloatArray

    @classmethod
    def load(cls, engine: Engine) -> Self:
        """Read the runs of the store.

        ``runs`` has `COLUMNS`, ``measured_s`` and ``predicted_s`` of one global batch; the
        prediction has seen the run itself.
        """
        with Store.open() as store:
            profiles = store.profiles()
        table = training_table(profiles, engine.catalog)
        runs = profiles.iloc[table.rows][list(COLUMNS)].reset_index(drop=True)
        point = engine.predictor.model.point
        predicted = point.predict(table.jobs)[0].total_s
        features = point.features(table.jobs)
        return cls(
            runs=runs.assign(measured_s=table.step_s, predicted_s=predicted),
            points=point.correction.scaler_.transform(features),
        )

    def nearest(self, engine: Engine, best: BestLayouts, entry: int) -> pd.DataFrame:
        """Return the `SHOWN` runs nearest to an entry, each configuration once.

        Returns
        -------
        DataFrame
            Columns of ``runs`` and ``distance``, in units of the usual gap between runs.
        """
        point = engine.predictor.model.point
        job = best.jobs.take(np.array([entry]))
        features = point.features(job)
        place = point.correction.scaler_.transform(features)
        distance = np.linalg.norm(self.points - place, axis=1) / point.correction.gap_
        ranked = self.runs.assign(distance=distance).sort_values("distance", kind="stable")
        distinct = ["model", "accelerator", "accelerators", "parallelism", "global_batch"]
        return ranked.drop_duplicates(distinct).head(SHOWN).reset_index(drop=True)
