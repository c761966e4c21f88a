"""A running job that is slower than predicted: why, and what helps.

The measured time of a step is set against the predicted one. Beyond what both are unsure of, the
cause is what the facts at hand explain, in this order: machines that are gone, one slow machine,
parameter servers that take no more, or none of these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from scipy.special import ndtri

from advisor.core.errors import InvalidInputError
from advisor.predictor.arrays import FloatArray
from advisor.predictor.collectives import smooth_min
from advisor.transient.lifetime import check_positive
from advisor.transient.pace import Pace

Cause = Literal["revocation", "straggler", "server_saturated", "not_told"]
SURE: Final = 0.95
LEAST: Final = 1.05
# A cluster this far below the sum of its workers is held up by its servers: the best of the
# clusters whose servers were not full lie within it.
SATURATED: Final = 0.9
# Of an interval ten wide in the logarithm: down to the precision of a float.
HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a running job beside its log.

    Parameters
    ----------
    machines, machines_left : int
        Machines it was planned with, and those that work.
    slowest_ratio : float or None
        Step of the slowest machine in that of the middle one; None where not told.
    alone_step_s : float or None
        Step of one worker alone [s], of a cluster with parameter servers; None for others.
    servers : int
        Parameter servers; 0: none.
    """

    machines: int
    machines_left: int
    slowest_ratio: float | None = None
    alone_step_s: float | None = None
    servers: int = 0

    def __post_init__(self) -> None:
        check_positive("machines", self.machines)
        if not 0 < self.machines_left <= self.machines:
            raise InvalidInputError(
                f"{self.machines_left} of {self.machines} machines is not possible.",
                where="machines that work",
                todo="Give at least one, and not more than were planned.",
            )
        for name in ("slowest_ratio", "alone_step_s"):
            value = getattr(self, name)
            if value is not None:
                check_positive(name, value)


@dataclass(frozen=True, slots=True)
class Slowdown:
    """A slow job: its step in the predicted one, why, and the speed after a remedy.

    ``gain`` is the speed with the remedy in that of now, None where it cannot be told.
    """

    ratio: float
    cause: Cause
    gain: float | None


def slowdown(
    pace: Pace, predicted_step_s: float, log_sigma: float, facts: Facts
) -> Slowdown | None:
    """Return why a job is slow, or None where it is not.

    Parameters
    ----------
    pace : Pace
        Measured.
    predicted_step_s, log_sigma : float
        Predicted for all planned machines: the median [s] and the spread of its logarithm.
    facts : Facts
        What else is known.
    """
    check_positive("predicted step", predicted_step_s)
    ratio = pace.step_s / predicted_step_s
    unsure = math.hypot(pace.log_sigma, log_sigma)
    below = math.log(ratio) > float(ndtri(SURE)) * unsure and ratio > LEAST
    was_faster = pace.earlier_step_s is not None and pace.step_s > LEAST * pace.earlier_step_s
    gone = facts.machines_left < facts.machines
    if not (below or was_faster or (gone and ratio > LEAST)):
        return None
    if gone:
        return Slowdown(ratio, "revocation", facts.machines / facts.machines_left)
    if facts.slowest_ratio is not None and facts.slowest_ratio > LEAST:
        return Slowdown(ratio, "straggler", facts.slowest_ratio)
    if facts.servers and facts.alone_step_s is not None:
        linear = facts.machines / facts.alone_step_s
        if 1 / pace.step_s < SATURATED * linear:
            return Slowdown(
                ratio, "server_saturated", gain_of_server(1 / pace.step_s, linear, facts.servers)
            )
    return Slowdown(ratio, "not_told", None)


def gain_of_server(steps_per_s: float, linear: float, servers: int) -> float:
    """Return the speed with one parameter server more, in that with `servers` of them.

    The cap that the measured speed implies grows with the servers.

    Parameters
    ----------
    steps_per_s, linear : float
        Measured, and the sum of the workers' own speeds.
    servers : int
        Parameter servers now.
    """
    cap = _cap_of(steps_per_s, linear) * (servers + 1) / servers
    return float(smooth_min(linear, cap)) / steps_per_s


def _cap_of(steps_per_s: float, linear: float) -> float:
    """Return the cap at which a sum of speeds becomes the measured one."""
    low, high = math.log(steps_per_s), math.log(steps_per_s) + 10
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached: FloatArray | float = smooth_min(linear, math.exp(middle))
        low, high = (middle, high) if float(reached) < steps_per_s else (low, middle)
    return math.exp(low)
