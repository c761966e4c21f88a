"""Simulated runs of a job, the draws behind them, and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from advisor.core.errors import InvalidInputError
from advisor.core.units import HOUR_S
from advisor.predictor.arrays import FloatArray
from advisor.transient.job import SpotJob

MOST_RUNS: Final = 1_000_000
# Streams of random numbers: the same event of the same run has the same draw in every plan.
HAZARD, WORK, EVENTS = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Draws:
    """Common random numbers: two plans with equal draws differ by the plan alone."""

    runs: int
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.runs <= MOST_RUNS:
            raise InvalidInputError(
                f"{self.runs:,} is not between 1 and {MOST_RUNS:,}.", where="simulated runs"
            )

    def _stream(self, *key: int) -> np.random.Generator:
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence((self.seed, *key))))

    def exponentials(self, event: int, width: int = 1) -> FloatArray:
        """Standard exponential draws of one event, shape (runs,) or (runs, width)."""
        shape = (self.runs,) if width == 1 else (self.runs, width)
        return self._stream(EVENTS, event).standard_exponential(shape)

    def factors(self, kind: int, log_sigma: float) -> FloatArray:
        """Log-normal factors of every run; of median 1."""
        if log_sigma == 0:
            return np.ones(self.runs)
        return np.exp(log_sigma * self._stream(kind).standard_normal(self.runs))

    def uniforms(self, kind: int) -> FloatArray:
        """Uniform draws of every run."""
        return self._stream(kind).random(self.runs)


@dataclass(frozen=True, eq=False)
class Runs:
    """What happened in each simulated run; arrays of shape (runs,).

    `paid_s` are machine-seconds that are paid, spot and on demand; `useful_s` those of them that
    the finished work needed.
    """

    finish_s: FloatArray
    cost_usd: FloatArray
    revocations: FloatArray
    paid_s: FloatArray
    useful_s: FloatArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """Distribution of time and bill of a plan.

    Bounds are the 5th and 95th percentile. `on_demand_usd` is the expected bill of the same job on
    demand, `saving` the share of it that is saved: run by run for the bounds, since what makes a
    job slow makes it slow on demand too. Both None where it cannot be had on demand.
    """

    runs: int
    mean_s: float
    finish_s: tuple[float, float, float]
    mean_usd: float
    cost_usd: tuple[float, float, float]
    p90_usd: float
    deadline_probability: float | None
    budget_probability: float | None
    revocations: float
    wasted_share: float
    on_demand_usd: float | None
    saving: tuple[float, float, float] | None
    standard_error_s: float
    standard_error_usd: float


QUANTILES: Final = (0.05, 0.5, 0.95)


def outcome(job: SpotJob, runs: Runs) -> Outcome:
    """Summarise simulated runs of a job."""
    count = len(runs.finish_s)
    finish = np.quantile(runs.finish_s, QUANTILES)
    cost = np.quantile(runs.cost_usd, (*QUANTILES, 0.9))
    mean_usd = float(runs.cost_usd.mean())
    demand, saving = None, None
    if job.on_demand_usd_per_h is not None:
        begin_s = (job.overheads.start_s + job.overheads.load_s) * job.machines
        alike = (begin_s + runs.useful_s) * job.on_demand_usd_per_h / HOUR_S
        demand = float(alike.mean())
        low, high = np.quantile(1 - runs.cost_usd / alike, (QUANTILES[0], QUANTILES[-1]))
        saving = (float(low), 1 - mean_usd / demand, float(high))
    root = math.sqrt(count)
    return Outcome(
        runs=count,
        mean_s=float(runs.finish_s.mean()),
        finish_s=(float(finish[0]), float(finish[1]), float(finish[2])),
        mean_usd=mean_usd,
        cost_usd=(float(cost[0]), float(cost[1]), float(cost[2])),
        p90_usd=float(cost[3]),
        deadline_probability=_share(runs.finish_s, job.deadline_s),
        budget_probability=_share(runs.cost_usd, job.budget_usd),
        revocations=float(runs.revocations.mean()),
        wasted_share=float(1 - runs.useful_s.sum() / runs.paid_s.sum()),
        on_demand_usd=demand,
        saving=saving,
        standard_error_s=float(runs.finish_s.std() / root),
        standard_error_usd=float(runs.cost_usd.std() / root),
    )


def _share(values: FloatArray, limit: float) -> float | None:
    return None if math.isinf(limit) else float((values <= limit).mean())
