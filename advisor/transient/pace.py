"""How fast a running job is now, and how sure that is.

A straight line through steps against time; where two lines fit far better than one, the job
changed its speed there and only what follows counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from advisor.core.errors import PredictionError
from advisor.predictor.arrays import FloatArray

FEWEST: Final = 3  # points of a line
MOST_POINTS: Final = 400
# Speeds drift by about so much over hours where nothing happens; the logs of 94 real runs of
# ResNet-32 on K80 vary by 0.3 to 3 % around their lines.
DRIFT_LOG: Final = 0.01
# A change counts from this difference of the speeds on, if it is also beyond the noise.
LEAST_CHANGE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Pace:
    """Time of a step [s].

    Parameters
    ----------
    step_s : float
        Now.
    log_sigma : float
        Standard deviation of its logarithm.
    noise_s : float
        How far a time of the log lies from the line [s]; the end will, too.
    earlier_step_s : float or None
        Before the speed changed; None where it did not.
    since_s : float
        Time from which the present speed holds [s].
    """

    step_s: float
    log_sigma: float
    noise_s: float
    earlier_step_s: float | None
    since_s: float

    def log_sigma_over(self, work_s: float) -> float:
        """Standard deviation of the logarithm of so much remaining work [s]."""
        return math.hypot(self.log_sigma, self.noise_s / work_s)

    def with_prior(self, step_s: float, log_sigma: float) -> Pace:
        """Return the pace drawn towards a prediction by what each is sure of."""
        own, prior = self.log_sigma**-2, log_sigma**-2
        mean = (own * math.log(self.step_s) + prior * math.log(step_s)) / (own + prior)
        spread = max(DRIFT_LOG, (own + prior) ** -0.5)
        return replace(self, step_s=math.exp(mean), log_sigma=spread)


def pace_of(step: FloatArray, elapsed_s: FloatArray) -> Pace:
    """Fit the speed of the last stretch without a change.

    Parameters
    ----------
    step, elapsed_s : array, shape (points,)
        Steps done and time [s], both rising: one session, no work done again.

    Raises
    ------
    PredictionError
        If there are too few points.
    """
    if len(step) < FEWEST or step[-1] <= step[0]:
        raise PredictionError(
            f"{len(step)} points do not tell a speed.",
            where="running job",
            todo=f"Wait until the log has {FEWEST} steps since the last restart.",
        )
    places = np.unique(np.linspace(0, len(step) - 1, MOST_POINTS).astype(int))
    step, time = step[places], elapsed_s[places]
    first, earlier = 0, None
    while (change := _change(step[first:], time[first:])) is not None:
        earlier = _line(step[first : first + change], time[first : first + change])[0]
        first += change
    slope, noise_s = _line(step[first:], time[first:])
    window = time[-1] - time[first]
    error = noise_s * math.sqrt(2) / window if window > 0 else math.inf
    return Pace(slope, math.hypot(error, DRIFT_LOG), noise_s, earlier, float(time[first]))


def _line(step: FloatArray, time: FloatArray) -> tuple[float, float]:
    """Return seconds per step, and how far times lie from the line [s]."""
    centred = step - step.mean()
    slope = float(centred @ time / (centred @ centred))
    rest = time - time.mean() - slope * centred
    free = max(1, len(step) - 2)
    return max(slope, 1e-9), math.sqrt(float(rest @ rest) / free)


def _change(step: FloatArray, time: FloatArray) -> int | None:
    """Return where the speed changed most clearly, or None."""
    size = len(step)
    if size < 2 * FEWEST:
        return None
    whole = _misfit(step, time)
    cuts = range(FEWEST, size - FEWEST + 1)
    misfits = [_misfit(step[:cut], time[:cut]) + _misfit(step[cut:], time[cut:]) for cut in cuts]
    best = int(np.argmin(misfits))
    cut = cuts[best]
    # Bayesian information: a second line and its place cost three numbers.
    floor = 1e-12 * float(time[-1] - time[0] + 1) ** 2
    gain = size * math.log((whole + floor) / (misfits[best] + floor))
    before, after = (_line(step[part], time[part])[0] for part in (slice(cut), slice(cut, None)))
    differs = abs(math.log(after / before)) > LEAST_CHANGE
    return cut if differs and gain > 2 * 3 * math.log(size) else None


def _misfit(step: FloatArray, time: FloatArray) -> float:
    centred = step - step.mean()
    rest = time - time.mean() - (centred @ time / (centred @ centred)) * centred
    return float(rest @ rest)
