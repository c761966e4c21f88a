"""What the simulations of the policies share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.errors import PredictionError
from advisor.core.units import duration
from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import Lifetime

if TYPE_CHECKING:
    import numpy as np

    from advisor.transient.policy import Policy
    from advisor.transient.runs import Draws

# Beyond so many revocations of one run the plan is no plan.
MOST_EVENTS: Final = 20_000
# A group that outlives its next checkpoint less often than this does not finish in any time.
LEAST_CHANCE_TO_ADVANCE: Final = 1e-3


def unfinished(active: np.ndarray, draws: Draws) -> float:
    """Share of the runs that are not finished."""
    return len(active) / draws.runs


def check_progress(event: int, share: float) -> int:
    """Return the number of the next event.

    Raises
    ------
    PredictionError
        If runs do not come to an end.
    """
    if share > 0 and event >= MOST_EVENTS:
        raise PredictionError(
            f"{share * 100:.3g} % of the runs are not finished after {MOST_EVENTS:,} revocations.",
            where="simulation",
            todo="Write checkpoints more often, or use fewer or safer machines.",
        )
    return event + 1


def no_progress(job: SpotJob, segments: int, chance: float, needed_s: float) -> str:
    """Return the reason where the chance to reach the next checkpoint is too small, or ""."""
    if chance >= LEAST_CHANCE_TO_ADVANCE:
        return ""
    return (
        f"{job.machines:,} machines live for {duration(needed_s)}, the time to the next of "
        f"{segments:,} checkpoints, in {chance * 100:.2g} % of the tries: the job does not finish"
    )


def time_to_checkpoint(job: SpotJob, segments: int, load_s: float) -> float:
    """Time from a running group to its next checkpoint [s]."""
    return load_s + job.work_s / segments + job.overheads.checkpoint_s


def restart_stalls(job: SpotJob, segments: int, *lifetimes: Lifetime) -> str:
    """Return the reason where fresh groups hardly ever reach a checkpoint, or an empty text.

    Parameters
    ----------
    job, segments
        As in `Policy.simulate`.
    lifetimes : Lifetime
        Of the places where the group may start; without them, that of the job.
    """
    needed = time_to_checkpoint(job, segments, job.overheads.load_s)
    chances = [life.survival(needed, job.group_times) for life in lifetimes or (job.lifetime,)]
    return no_progress(job, segments, float(max(chances)), needed)


def check_applies(policy: Policy, job: SpotJob, segments: int) -> None:
    """Raise a `PredictionError` with the reason where a policy does not apply."""
    reason = policy.applies(job, segments)
    if reason:
        raise PredictionError(f"{reason}.", where=policy.label, todo="Choose another policy.")


def begins_only(job: SpotJob) -> str:
    """Return the reason where a policy plans jobs that begin, and the job runs already, or ""."""
    return "it plans a job from its start; this one runs already" if job.running_s else ""


def on_demand_price(job: SpotJob) -> float:
    """Price of one machine on demand [USD/h]; ask `check_applies` first."""
    if job.on_demand_usd_per_h is None:
        raise PredictionError("the machine cannot be had on demand.", where="on demand")
    return job.on_demand_usd_per_h


def group_deaths(
    job: SpotJob, draws: Draws, event: int, rows: np.ndarray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return lifetimes of fresh groups [s]: each machine alone (rows, machines), and all at once.

    The hazard is split into the part that strikes a machine alone and the common one. The first
    group of a job that runs already is as old as it says.
    """
    drawn = draws.exponentials(event, job.machines + 1)[rows]
    life = lifetime_of_event(job, event)
    alone = factor[:, None] * max(1 - job.common_share, 1e-12)
    own = life.age_of_draws(drawn[:, 1:], alone)
    return own, life.age_of_draws(drawn[:, 0], factor * max(job.common_share, 1e-12))


def lifetime_of_event(job: SpotJob, event: int) -> Lifetime:
    """Return the lifetime of the machines that begin with an event; the first may be old."""
    return job.first_lifetime if event == 0 else job.lifetime
