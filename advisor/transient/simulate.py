"""What the simulations of the policies share."""

from __future__ import annotations

from typing import Final

import numpy as np

from advisor.core.errors import PredictionError
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
