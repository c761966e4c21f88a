"""Spot machines: how long they live, what a revocation costs, how long a job then takes."""

from advisor.transient.columns import spot_columns, with_bands
from advisor.transient.evaluate import Evaluated, compare, evaluate
from advisor.transient.interval import INTERVALS
from advisor.transient.job import SpotJob
from advisor.transient.markets import NO_DATA, KnownLifetime, LifetimeBasis, known_lifetime
from advisor.transient.overheads import Overheads
from advisor.transient.policy import POLICIES
from advisor.transient.runs import Draws, Outcome, outcome

__all__ = [
    "INTERVALS",
    "NO_DATA",
    "POLICIES",
    "Draws",
    "Evaluated",
    "KnownLifetime",
    "LifetimeBasis",
    "Outcome",
    "Overheads",
    "SpotJob",
    "compare",
    "evaluate",
    "known_lifetime",
    "outcome",
    "spot_columns",
    "with_bands",
]
