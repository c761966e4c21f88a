"""A prediction opened: its factors, and the measured runs behind it with their distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from advisor import zoo
from advisor.advice.entries import FAR_DISTANCE, MEASURED_DISTANCE, parts_of
from advisor.catalog.names import spelled
from advisor.core.units import NBSP, duration, number
from advisor.domain import Explanation, NearRun, OwnShare
from advisor.predictor.difficulty import accelerator_columns
from advisor.predictor.residual import NEAR

if TYPE_CHECKING:
    from collections.abc import Hashable

    from advisor.advice.engine import Engine
    from advisor.advice.nearest import Measured
    from advisor.domain import Difference, Nearness, Workload
    from advisor.predictor.jobs import Jobs
    from advisor.search.exact import BestLayouts

# Distances up to which each word holds; a correction has faded by half at `NEAR`.
WORDS: Final[tuple[tuple[float, Nearness], ...]] = (
    (MEASURED_DISTANCE, "as good as measured"),
    (1.0, "very near"),
    (FAR_DISTANCE, "near"),
    (NEAR, "far"),
    (math.inf, "very far"),
)
SCALE_WORDS: Final = (
    f"Distance 1 is the usual gap between measured runs. Above {FAR_DISTANCE:g} is far: the "
    f"interval widens, and at {NEAR:g} half of what was learned is left, the rest is physics."
)
DIFFERENCE_WORDS: Final[dict[Difference, str]] = {
    "model": "model", "accelerator": "accelerator", "accelerators": "count",
    "precision": "precision", "sample_size": "sample size", "global_batch": "batch",
}  # fmt: skip
# Numbers that differ by less are one number, rounded by its source.
SAME: Final = 0.01


def explanation_of(
    best: BestLayouts, entry: int, workload: Workload, engine: Engine, measured: Measured
) -> Explanation:
    """Return what the prediction of an entry is made of.

    Parameters
    ----------
    best : BestLayouts
        Predicted layouts, one of which is the entry.
    workload : Workload
        The job.
    engine : Engine
        That predicted them, with the calibration by own runs.
    measured : Measured
        The runs it was trained on.
    """
    calibration, model = engine.predictor.calibration, engine.predictor.model
    job = best.jobs.take(np.array([entry]))
    parts = parts_of(best, entry)
    own, software, shares = 1.0, 1.0, []
    if calibration is not None and best.before is not None:
        own = parts.total_s / float(best.before.step_s[entry])
        job = calibration.on_own_stack(job)
        uncalibrated = model.predict(job)
        shares = calibration.shares(job, uncalibrated)
        software = float(uncalibrated.step_s[0] / best.before.step_s[entry])
    near = measured.nearest(engine, job)
    distance = float(near["distance"].min())
    return Explanation(
        physics_s=parts.total_s / parts.correction,
        learned_factor=parts.correction / own,
        own_factor=own,
        software_factor=software,
        step_s=parts.total_s,
        parts=parts,
        distance=distance,
        nearness=nearness_of(distance),
        kept_share=float(
            model.point.correction.weight(best.prediction.distance[entry : entry + 1])[0]
        ),
        nearest=tuple(
            _near_run(run, workload, job, measured.jobs.take(np.array([run["row"]])))
            for run in near.to_dict("records")
        ),
        own_runs=tuple(OwnShare(run=r, likeness=like, factor=f) for r, like, f in shares),
    )


def nearness_of(distance: float) -> Nearness:
    """Return the word of a distance.

    >>> nearness_of(0.1), nearness_of(2.0), nearness_of(50.0)
    ('as good as measured', 'near', 'very far')
    """
    return next(word for most, word in WORDS if distance <= most)


def factors_sentence(explained: Explanation) -> str:
    """Return how the step comes about, in words."""
    said = (
        f"Physics alone says {duration(explained.physics_s)}; measured runs bend it by a factor of "
        f"{number(explained.learned_factor)}"
    )
    if explained.own_runs:
        runs = len(explained.own_runs)
        by = "your run" if runs == 1 else f"your {runs:,} runs"
        said += f", {by} by {number(explained.own_factor)}"
    return f"{said}: {duration(explained.step_s)}."


def distance_sentence(explained: Explanation) -> str:
    """Return how far the nearest measured run is, and what that leaves of the correction."""
    return (
        f"The nearest measured run is {explained.nearness} ({explained.distance:.1f}); "
        f"{100 * explained.kept_share:.0f}{NBSP}% of what was learned counts here."
    )


def differences_words(run: NearRun) -> str:
    """Return what a run does not share with the job."""
    return ", ".join(DIFFERENCE_WORDS[name] for name in run.differs) or "nothing"


def _near_run(run: dict[Hashable, Any], workload: Workload, job: Jobs, its: Jobs) -> NearRun:
    return NearRun(
        source=str(run["source"]),
        url=_text(run["url"]),
        year=None if np.isnan(run["year"]) else int(run["year"]),
        model=str(run["model"]),
        accelerator=str(run["accelerator"]),
        accelerators=float(run["accelerators"]),
        framework=_text(run["framework"]),
        precision=_text(run["precision"]),
        parallelism=_text(run["parallelism"]),
        global_batch=float(run["global_batch"]),
        sample_size=None if np.isnan(run["sample_size"]) else float(run["sample_size"]),
        measured_s=float(run["measured_s"]),
        predicted_s=float(run["predicted_s"]),
        distance=float(run["distance"]),
        nearness=nearness_of(float(run["distance"])),
        differs=_differences(run, workload, job, its),
    )


def _differences(
    run: dict[Hashable, Any], workload: Workload, job: Jobs, its: Jobs
) -> tuple[Difference, ...]:
    """Return what of a run is not as asked; what its source does not say does not differ."""
    size = workload.model.resolution or workload.model.tokens_per_sample
    pairs: dict[Difference, bool] = {
        "model": _network(str(run["model"])) == _network(workload.model.name),
        "accelerator": np.array_equal(accelerator_columns(its), accelerator_columns(job)),
        "accelerators": _equal(float(its.devices[0]), float(job.devices[0])),
        "precision": not _text(run["precision"]) or its.precision_code[0] == job.precision_code[0],
        "sample_size": np.isnan(run["sample_size"]) or _equal(run["sample_size"], size),
        "global_batch": _equal(run["global_batch"], workload.global_batch),
    }
    return tuple(name for name, same in pairs.items() if not same)


def _network(label: str) -> str:
    known = zoo.named(label)
    return known.name if known else spelled(label)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
