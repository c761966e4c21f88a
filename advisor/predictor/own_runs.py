"""The user's own runs as columns of the physics, as far as the runs themselves say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from advisor.domain import Profile
from advisor.predictor.arrays import FloatArray
from advisor.predictor.frameworks import UNNAMED
from advisor.predictor.hardware import NEWEST_STACK_YEAR, facts_of
from advisor.predictor.jobs import Jobs
from advisor.predictor.runs import STACK_CODES, resolve_runs
from advisor.predictor.training import plausible_runs
from advisor.predictor.workload_columns import usual_stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog import Catalog
    from advisor.domain import Model

TEXTS: Final = ("model", "family", "dataset", "framework", "precision", "accelerator",
                "instance_type", "interconnect", "parallelism", "source")  # fmt: skip
IMPLAUSIBLE: Final = "its speed is not possible: check step time, batch and accelerators"


@dataclass(frozen=True, slots=True)
class OwnRunsTable:
    """Usable runs with their jobs and measured step [s]; ``unused`` has the others and why."""

    profiles: tuple[Profile, ...]
    jobs: Jobs
    step_s: FloatArray
    unused: tuple[tuple[Profile, str], ...]


def own_runs_table(
    profiles: Sequence[Profile], models: Sequence[Model | None], catalog: Catalog
) -> OwnRunsTable:
    """Return the runs that the physics can describe; runs given twice count once.

    What a run leaves open is filled as for measured runs of public tables, but that its software
    is of today, and a stack that is not known is the usual one of the family.

    Parameters
    ----------
    profiles : sequence of Profile
        Measured runs of the user.
    models : sequence of Model or None
        The network of each where its name is known: a run of it and the user's next job are then
        one workload.
    catalog : Catalog
        Knows the accelerators.
    """
    frame = _frame(profiles, models)
    runs = resolve_runs(frame, facts_of(catalog, frame["accelerator"]))
    unknown = runs["stack_code"] == STACK_CODES["other"]
    runs["stack_code"] = runs["stack_code"].mask(unknown, frame["family"].map(usual_stack))
    # What a framework of this name did for others is not the user's: own runs say it themselves.
    runs["framework_code"] = UNNAMED
    step = frame["step_time_s"].to_numpy(float)
    plausible = plausible_runs(runs, step, frame["accelerators"].to_numpy(float))
    reason = runs["reason"].mask((runs["reason"] == "") & ~plausible, IMPLAUSIBLE).tolist()
    rows = np.array([row for row, said in enumerate(reason) if not said], dtype=int)
    return OwnRunsTable(
        profiles=tuple(profiles[row] for row in rows.tolist()),
        jobs=Jobs.from_frame(runs.iloc[rows]),
        step_s=step[rows],
        unused=tuple((profiles[row], said) for row, said in enumerate(reason) if said),
    )


def _frame(profiles: Sequence[Profile], models: Sequence[Model | None]) -> pd.DataFrame:
    """Return the store's columns, with what is known of the model filled in."""
    rows = []
    for profile, model in zip(profiles, models, strict=True):
        row = profile.model_dump(exclude={"provenance"}) | {"source": "own"}
        row["year"] = row["year"] or NEWEST_STACK_YEAR
        if model is not None:
            row |= {
                "family": model.family,
                "params": model.params,
                "layers": model.layers,
                "hidden": model.hidden or None,
                "sample_size": model.resolution or model.tokens_per_sample,
                "forward_flops_per_sample": model.forward_flops_per_sample,
            }
        rows.append(row)
    columns = [name for name in Profile.model_fields if name != "provenance"]
    frame = pd.DataFrame(rows, columns=[*columns, "source"])
    return frame.astype({name: float for name in frame if name not in TEXTS})
