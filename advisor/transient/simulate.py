"""What the simulations of the policies share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.core.errors import PredictionError
from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob

if TYPE_CHECKING:
    import numpy as np

    from advisor.transient.policy import Policy
    from advisor.transient.runs import Draws

# Beyond so many revocations of one run the plan is no plan.
MOST_EVENTS: Final = 20_000


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


def check_applies(policy: Policy, job: SpotJob) -> None:
    """Raise a `PredictionError` with the reason where a policy does not apply."""
    reason = policy.applies(job)
    if reason:
        raise PredictionError(f"{reason}.", where=policy.label, todo="Choose another policy.")


def on_demand_price(job: SpotJob) -> float:
    """Price of one machine on demand [USD/h]; ask `check_applies` first."""
    if job.on_demand_usd_per_h is None:
        raise PredictionError("the machine cannot be had on demand.", where="on demand")
    return job.on_demand_usd_per_h


def group_deaths(
    job: SpotJob, draws: Draws, event: int, rows: np.ndarray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return lifetimes of fresh groups [s]: each machine alone (rows, machines), and all at once.

    The hazard is split into the part that strikes a machine alone and the common one.
    """
    drawn = draws.exponentials(event, job.machines + 1)[rows]
    alone = factor[:, None] * max(1 - job.common_share, 1e-12)
    own = job.lifetime.age_of_draws(drawn[:, 1:], alone)
    return own, job.lifetime.age_of_draws(drawn[:, 0], factor * max(job.common_share, 1e-12))
