r"""Closed form: a group that restarts as a whole is a renewal process.

An attempt starts with fresh machines. It takes :math:`d` to order them (and a wait that is not
billed, after a revocation); then it runs until the
first revocation at age :math:`L`, or until the work that remains is done. With :math:`j` parts
to go, each of length :math:`h` (work and checkpoint), after a load of :math:`r`,

.. math:: E_j = d + \int_0^{r + j h} S(x)\,dx + \sum_{k<j} q_k E_{j-k},
          \qquad q_k = S(r + k h) - S(r + (k+1) h)

(:math:`q_0` with the chance to fail while loading). The same recursion gives the second moment and
the expected revocations. It is exact where a part is one checkpoint interval. With more intervals
than blocks a block holds several: progress lies between the grid, and an interruption loses half an
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob
from advisor.transient.lifetime import Lifetime

MOST_BLOCKS: Final = 400


@dataclass(frozen=True)
class RestartColumns:
    """Inputs of the recursion, one row per plan; arrays of shape (rows,), times in seconds.

    `times` are hazards of one machine, `part_s` is an interval with its checkpoint.
    """

    times: FloatArray
    part_s: FloatArray
    load_s: FloatArray
    delay_s: FloatArray
    wait_s: FloatArray


@dataclass(frozen=True)
class RestartMoments:
    """Results over the grid of work that remains; arrays of shape (rows, blocks + 1).

    `block_parts` are the checkpoint intervals of one block: 1 where the recursion is exact.
    """

    mean_s: FloatArray
    square_s2: FloatArray
    revocations: FloatArray
    untouched: FloatArray
    block_parts: FloatArray

    def at(self, values: FloatArray, parts: FloatArray) -> FloatArray:
        """Read a quantity where so many parts remain, linear between the grid."""
        place = np.clip(parts / self.block_parts, 0, values.shape[1] - 1)
        low = np.minimum(place.astype(int), values.shape[1] - 2)
        rows = np.arange(len(values))
        left, right = values[rows, low], values[rows, low + 1]
        return np.asarray(left + (place - low) * (right - left))


def restart_moments(
    lifetime: Lifetime, columns: RestartColumns, blocks: int, most_parts: FloatArray
) -> RestartMoments:
    """Solve the recursion for many plans on machines of one lifetime.

    Parameters
    ----------
    lifetime : Lifetime
        Of one machine.
    columns : RestartColumns
        The plans.
    blocks : int
        Size of the grid.
    most_parts : array, shape (rows,)
        The grid reaches so far.
    """
    exact = most_parts <= blocks
    block_parts = np.where(exact, 1.0, most_parts / blocks)
    width = block_parts * columns.part_s
    grid = columns.load_s[:, None] + width[:, None] * np.arange(blocks + 1)
    alive = lifetime.survival(grid, columns.times[:, None])
    area = lifetime.mean_until(grid, columns.times[:, None])
    in_load = _Failing.between(
        np.zeros((len(grid), 1)), grid[:, :1], np.ones((len(grid), 1)), alive[:, :1],
        np.zeros((len(grid), 1)), area[:, :1],
    )  # fmt: skip
    failing = _Failing.between(
        grid[:, :-1], grid[:, 1:], alive[:, :-1], alive[:, 1:], area[:, :-1], area[:, 1:]
    )
    kernel = _kernel(failing, grid, width, np.where(exact, 0.0, 0.5 / block_parts), exact)
    return _solve(columns, kernel, in_load, failing, grid, alive, area, block_parts)


@dataclass(frozen=True)
class _Failing:
    """Chance to fail between two ages, and the mean age at which it happens [s]."""

    chance: FloatArray
    age_s: FloatArray

    @classmethod
    def between(
        cls,
        low_s: FloatArray,
        high_s: FloatArray,
        alive_low: FloatArray,
        alive_high: FloatArray,
        area_low: FloatArray,
        area_high: FloatArray,
    ) -> _Failing:
        chance = np.maximum(alive_low - alive_high, 0.0)
        moment = low_s * alive_low - high_s * alive_high + area_high - area_low
        with np.errstate(invalid="ignore", divide="ignore"):
            age = np.where(chance > 1e-12, moment / chance, (low_s + high_s) / 2)
        return cls(chance, np.clip(age, low_s, high_s))


@dataclass(frozen=True)
class _Kernel:
    """Weights that a failure in block k leaves k - 1, k or k + 1 blocks done."""

    one_less: FloatArray
    same: FloatArray
    one_more: FloatArray
    blur: FloatArray  # variance in blocks that splitting between the grid adds


def _kernel(
    failing: _Failing,
    grid: FloatArray,
    width: FloatArray,
    loss: FloatArray,
    exact: NDArray[np.bool_],
) -> _Kernel:
    block = np.arange(failing.chance.shape[1])
    inside = (failing.age_s - grid[:, :-1]) / width[:, None]
    done = np.maximum(block + np.where(exact[:, None], 0.0, inside) - loss[:, None], 0.0)
    whole = np.floor(done)
    rest = done - whole
    behind = whole < block
    chance = failing.chance
    return _Kernel(
        one_less=np.where(behind, chance * (1 - rest), 0.0),
        same=np.where(behind, chance * rest, chance * (1 - rest)),
        one_more=np.where(behind, 0.0, chance * rest),
        blur=chance * rest * (1 - rest),
    )


@dataclass(frozen=True)
class _Shifted:
    """The kernel by blocks done; arrays padded so that a block beyond the last weighs nothing."""

    weight: FloatArray
    one_less: FloatArray
    same: FloatArray

    @classmethod
    def of(cls, kernel: _Kernel, factor: FloatArray) -> _Shifted:
        less, same, more = (
            np.pad(part * factor, ((0, 0), (0, 2)))
            for part in (kernel.one_less, kernel.same, kernel.one_more)
        )
        weight = same.copy()
        weight[:, :-1] += less[:, 1:]
        weight[:, 1:] += more[:, :-1]
        return cls(weight, less, same)

    def stay(self, left: int) -> FloatArray:
        """Weight of failures that leave all `left` blocks to do."""
        if left == 0:
            return np.zeros(len(self.weight))
        return self.weight[:, 0] - (self.one_less[:, 1] if left == 1 else 0.0)

    def others(self, values: FloatArray, left: int) -> FloatArray:
        """Sum of what remains after failures that get ahead; only blocks before `left` count."""
        total = np.einsum("rs,rs->r", self.weight[:, 1 : left + 1], values[:, :left][:, ::-1])
        total = total - (self.same[:, left] + self.one_less[:, left + 1]) * values[:, 0]
        if left >= 2:
            total = total - self.one_less[:, left] * values[:, 1]
        return np.asarray(total)


def _solve(
    columns: RestartColumns,
    kernel: _Kernel,
    in_load: _Failing,
    failing: _Failing,
    grid: FloatArray,
    alive: FloatArray,
    area: FloatArray,
    block_parts: FloatArray,
) -> RestartMoments:
    delay = columns.delay_s
    lost = delay + columns.wait_s
    early, early_s = in_load.chance[:, 0], in_load.age_s[:, 0] + lost
    spent = failing.age_s + lost[:, None]  # by an attempt that fails in a block
    blur = np.cumsum(kernel.blur, axis=1)
    # Variance of the age inside a block: w²/12 where it is even, less where it leans to one side.
    within = (failing.age_s - grid[:, :-1]) * (grid[:, 1:] - failing.age_s) / 3
    squares = np.cumsum(failing.chance * (spent**2 + within), axis=1)
    plain, timed = _Shifted.of(kernel, np.ones_like(spent)), _Shifted.of(kernel, spent)
    mean, square, count = (np.zeros(grid.shape) for _ in range(3))
    for left in range(grid.shape[1]):
        again = 1 - early - plain.stay(left)
        known = [plain.others(table, left) if left else 0.0 for table in (mean, count, square)]
        failed = 1 - alive[:, left]
        mean[:, left] = (delay + area[:, left] + columns.wait_s * failed + known[0]) / again
        count[:, left] = (failed + known[1]) / again
        later = (early * early_s + timed.stay(left)) * mean[:, left]
        later = later + (timed.others(mean, left) if left else 0.0)
        own = alive[:, left] * (grid[:, left] + delay) ** 2 + early * early_s**2
        if left:
            step_s = mean[:, left] - mean[:, left - 1]
            own = own + squares[:, left - 1] - blur[:, left - 1] * step_s**2
        square[:, left] = (own + 2 * later + known[2]) / again
    return RestartMoments(mean, square, count, alive, block_parts)


@dataclass(frozen=True, slots=True)
class RestartForecast:
    """Moments of a job that restarts as a whole."""

    mean_s: float
    sd_s: float
    revocations: float
    untouched: float
    mean_usd: float


def restart_forecast(job: SpotJob, segments: int, blocks: int = MOST_BLOCKS) -> RestartForecast:
    """Solve one job in closed form; the spread of hazard and work is left out.

    Parameters
    ----------
    job : SpotJob
        The job.
    segments : int
        Parts that checkpoints split the work into.
    blocks : int
        The recursion is exact up to so many segments.
    """
    over = job.overheads
    parts = np.array([float(segments)])
    columns = RestartColumns(
        times=np.array([job.group_times]),
        part_s=np.array([job.work_s / segments + over.checkpoint_s]),
        load_s=np.array([over.load_s]),
        delay_s=np.array([over.start_s]),
        wait_s=np.array([over.wait_s]),
    )
    size = min(segments, blocks)
    found = restart_moments(job.lifetime, columns, size, parts)
    mean, square, count, alone = (
        float(found.at(values, parts)[0])
        for values in (found.mean_s, found.square_s2, found.revocations, found.untouched)
    )
    return RestartForecast(
        mean_s=mean,
        sd_s=float(np.sqrt(max(0.0, square - mean**2))),
        revocations=count,
        untouched=alone,
        mean_usd=(mean - over.wait_s * count) * job.machines * job.usd_per_s,
    )
