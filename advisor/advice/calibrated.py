"""One prediction before and after the user's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.advice.entries import basis_without_runs
from advisor.core.units import HOUR_S, NBSP, hours, number
from advisor.domain import Calibrated, Estimate

if TYPE_CHECKING:
    from advisor.advice.engine import Engine
    from advisor.domain import Basis, OwnRuns
    from advisor.search.exact import BestLayouts

# A step that is so many times what was predicted is a slip of units, not news.
MOST_OFF: Final = 30.0


def calibrated_of(
    best: BestLayouts,
    entry: int,
    engine: Engine,
    *,
    steps: int,
    retry_share: float = 0.0,
    other_h: float = 0.0,
) -> Calibrated | None:
    """Return what the own runs changed of an entry; None where none say anything of it.

    Parameters
    ----------
    steps : int
        Steps of the job.
    retry_share, other_h : float
        What the hours contain beside training: the allowance for restarts as a share of it, and
        start and interruptions of the machines [h].
    """
    calibration, before = engine.predictor.calibration, best.before
    if calibration is None or before is None:
        return None
    job = calibration.on_own_stack(best.jobs.take(np.array([entry])))
    likeness, runs = calibration.likeness(job)
    if likeness == "nothing shared":
        return None
    basis = basis_without_runs(best, entry)
    bounds = [float(column[entry]) for column in (before.low_s, before.step_s, before.high_s)]
    per_step_h = steps * (1 + retry_share) / HOUR_S
    return Calibrated(
        step_time_before_s=_estimate(bounds, "s", basis),
        hours_before=_estimate([per_step_h * b + other_h for b in bounds], "h", basis),
        factor=float(best.prediction.step_s[entry]) / bounds[1],
        runs=runs,
        likeness=likeness,
    )


def doubts(runs: OwnRuns | None) -> tuple[str, ...]:
    """Return which own runs are so far from what is predicted that they are to be checked."""
    found = []
    for run in () if runs is None else runs.used:
        times = max(run.measured_s / run.predicted_s, run.predicted_s / run.measured_s)
        if times > MOST_OFF:
            found.append(f"{run}: {far_words(times)}")
    return tuple(found)


def far_words(times: float) -> str:
    """Return the doubt about a run whose step is so many times off."""
    return f"its step is {number(times)} times off what is predicted: check it"


def sentence(calibrated: Calibrated, hours_after: float) -> str:
    r"""Return the change in words.

    >>> before = Estimate(value=4.1, low=3, high=5, unit="h", basis="interpolated")
    >>> change = Calibrated(
    ...     step_time_before_s=before.model_copy(update={"unit": "s"}), hours_before=before,
    ...     factor=0.78, runs=3, likeness="same model and accelerator",
    ... )
    >>> sentence(change, 3.2)
    'before 4.1\xa0h, after 3.2\xa0h by 3 of your runs (same model and accelerator)'
    """
    runs = "one of your runs" if calibrated.runs == 1 else f"{calibrated.runs:,} of your runs"
    before, after = hours(calibrated.hours_before.value), hours(hours_after)
    return f"before {before}{NBSP}h, after {after}{NBSP}h by {runs} ({calibrated.likeness})"


def _estimate(bounds: list[float], unit: str, basis: Basis) -> Estimate:
    low, value, high = bounds
    return Estimate(value=value, low=low, high=high, unit=unit, basis=basis)
